"""Contents of device buffers: given bytes, or numbers drawn from a seed; both can be written down.

Numbers come from the raw output of PCG64, which NumPy keeps the same for ever
(https://numpy.org/neps/nep-0019-rng-policy.html), and from arithmetic stated here: NumPy's own
distributions may change between versions, and a pair must stay what was executed.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cass_pipeline.errors import InputError

Array = npt.NDArray[Any]

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
"""Element types by NumPy name, all little-endian. Others (bfloat16, structs) travel as uint8."""


@dataclass(frozen=True)
class Given:
    """Exactly these bytes."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes
    """In C order."""

    def __post_init__(self) -> None:
        size = _check_layout(self.dtype, self.shape)
        if len(self.data) != size:
            raise InputError(f"{self.shape} of {self.dtype} is {size} bytes, not {len(self.data)}")

    @classmethod
    def of(cls, array: Array) -> Given:
        """The contents of `array`, copied."""
        return cls(array.dtype.name, array.shape, array.tobytes())

    def array(self) -> Array:
        """A new array."""
        return np.frombuffer(self.data, self.dtype).reshape(self.shape).copy()

    def to_json(self) -> dict[str, Any]:
        """The bytes as base64."""
        return {"dtype": self.dtype, "shape": list(self.shape), "data": encode(self.data)}


@dataclass(frozen=True)
class Seeded:
    """Numbers spread evenly over [low, high), the same for ever.

    An element takes one raw 64-bit output `r`, in C order (a complex number two). Floats are
    `low + (r >> 11) / 2**53 * (high - low)`, computed in float64 and then rounded; integers are
    `low + r % (high - low)`; bool is the lowest bit.
    """

    dtype: str
    shape: tuple[int, ...]
    seed: int
    low: float = 0
    high: float = 1

    def __post_init__(self) -> None:
        _check_layout(self.dtype, self.shape)
        if self.seed < 0:
            raise InputError(f"A seed is not negative: {self.seed}")
        kind = np.dtype(self.dtype)
        if kind.kind in "iu":
            info = np.iinfo(kind)
            fits = info.min <= self.low < self.high <= int(info.max) + 1
            if not (isinstance(self.low, int) and isinstance(self.high, int) and fits):
                raise InputError(f"[{self.low}, {self.high}) is no range of {self.dtype}")
        elif not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise InputError(f"[{self.low}, {self.high}) is no range of numbers")

    def array(self) -> Array:
        """A new array, bit for bit the same on every machine."""
        kind = np.dtype(self.dtype)
        count = math.prod(self.shape) * (2 if kind.kind == "c" else 1)
        raw = np.random.PCG64(self.seed).random_raw(count)
        if kind.kind == "b":
            flat = (raw & np.uint64(1)).astype(kind)
        elif kind.kind in "iu":
            span = int(self.high) - int(self.low)
            # Two's complement: the wrapped sum of unsigned numbers is the sum of signed ones.
            offset = raw if span == 2**64 else raw % np.uint64(span)
            flat = (offset + np.uint64(int(self.low) % 2**64)).astype(kind)
        else:
            unit = (raw >> np.uint64(11)).astype(np.float64) / 2.0**53
            numbers = self.low + unit * (self.high - self.low)
            if kind.kind == "c":
                numbers = numbers.view(np.complex128)
            flat = numbers.astype(kind)
        return flat.reshape(self.shape)

    def to_json(self) -> dict[str, Any]:
        """The seed and the range, not the numbers."""
        return {
            "dtype": self.dtype,
            "shape": list(self.shape),
            "seed": self.seed,
            "low": self.low,
            "high": self.high,
        }


Contents = Given | Seeded


def contents_from_json(value: Mapping[str, Any]) -> Contents:
    """The inverse of both `to_json`.

    Raises:
        InputError: `value` describes no contents.
    """
    dtype, shape = value["dtype"], tuple(value["shape"])
    if "data" in value:
        return Given(dtype, shape, decode(value["data"]))
    return Seeded(dtype, shape, value["seed"], value["low"], value["high"])


def encode(data: bytes) -> str:
    """Bytes as base64 text."""
    return base64.b64encode(data).decode("ascii")


def decode(text: str) -> bytes:
    """The bytes of base64 text; raises InputError for any other text."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise InputError(f"Not base64: {error}") from error


def _check_layout(dtype: str, shape: tuple[int, ...]) -> int:
    if dtype not in DTYPES:
        raise InputError(f"{dtype!r} is no element type; known are {', '.join(DTYPES)}")
    if not all(isinstance(extent, int) and extent >= 0 for extent in shape):
        raise InputError(f"{shape} is no shape")
    return int(np.dtype(dtype).itemsize) * math.prod(shape)

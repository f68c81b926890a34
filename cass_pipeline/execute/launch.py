"""One launch of one kernel, and what came of it: all that is needed to repeat it, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from cass_pipeline.errors import InputError
from cass_pipeline.execute.buffers import (
    Array,
    Contents,
    Given,
    contents_from_json,
    decode,
    encode,
)

SCALAR_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)

Extent = tuple[int, int, int]


@dataclass(frozen=True)
class Scalar:
    """A number passed by value."""

    dtype: str
    value: int | float | bool

    def __post_init__(self) -> None:
        if self.dtype not in SCALAR_DTYPES:
            raise InputError(f"{self.dtype!r} is no scalar type")
        try:
            self.to_bytes()
        except (OverflowError, TypeError, ValueError) as error:
            raise InputError(f"{self.value!r} is no {self.dtype}: {error}") from error

    def to_bytes(self) -> bytes:
        """The bytes the kernel receives."""
        with np.errstate(over="ignore"):
            return np.array(self.value, dtype=self.dtype).tobytes()

    def to_json(self) -> dict[str, Any]:
        """Floats as hexadecimal text: exact, and it covers infinities and NaN."""
        value = self.value.hex() if isinstance(self.value, float) else self.value
        return {"scalar": self.dtype, "value": value}


@dataclass(frozen=True)
class Pointer:
    """The device address of a buffer. Two pointers may name one buffer."""

    buffer: str
    offset: int = 0
    """Bytes past the buffer's start."""

    def to_json(self) -> dict[str, Any]:
        """Buffer by name."""
        return {"buffer": self.buffer, "offset": self.offset}


@dataclass(frozen=True)
class Struct:
    """Bytes passed by value, such as a struct, with device addresses patched in."""

    data: bytes
    pointers: tuple[tuple[int, Pointer], ...] = ()
    """Byte position inside `data`, and what the eight bytes there shall point to."""

    def to_json(self) -> dict[str, Any]:
        """Bytes as base64."""
        pointers = [{"at": at, **pointer.to_json()} for at, pointer in self.pointers]
        return {"struct": encode(self.data), "pointers": pointers}


Argument = Scalar | Pointer | Struct


@dataclass(frozen=True)
class Launch:
    """Everything that determines one kernel launch."""

    code: bytes
    """The code object: cubin or PTX text (NVIDIA), or an AMD code object."""
    kernel: str
    """Mangled name of the kernel."""
    grid: Extent
    """Blocks in x, y, z."""
    block: Extent
    """Threads a block in x, y, z."""
    args: tuple[Argument, ...] = ()
    """In the order of the kernel's parameters."""
    buffers: Mapping[str, Contents] = field(default_factory=dict)
    """Device arrays and what they hold before the launch; all are outputs."""
    shared_bytes: int = 0
    """Dynamic shared memory a block."""
    symbols: Mapping[str, Struct] = field(default_factory=dict)
    """Values of `__device__` and `__constant__` variables before the launch, by mangled name."""

    def __post_init__(self) -> None:
        for extent in (self.grid, self.block):
            if len(extent) != 3 or not all(isinstance(n, int) and n > 0 for n in extent):
                raise InputError(f"Grid and block are three positive numbers, not {extent}")
        if self.shared_bytes < 0:
            raise InputError(f"Shared memory is not negative: {self.shared_bytes}")
        for value in (*self.args, *self.symbols.values()):
            if isinstance(value, Pointer):
                self._check(value)
            elif isinstance(value, Struct):
                for at, pointer in value.pointers:
                    self._check(pointer)
                    if not 0 <= at <= len(value.data) - 8:
                        raise InputError(f"No room for an address at byte {at} of a struct")

    def _check(self, pointer: Pointer) -> None:
        if pointer.buffer not in self.buffers:
            raise InputError(f"A pointer names {pointer.buffer!r}, which is not among the buffers")
        if pointer.offset < 0:
            raise InputError(f"A pointer starts before its buffer {pointer.buffer!r}")

    def to_json(self) -> str:
        """The launch as one line of JSON."""
        return json.dumps(
            {
                "code": encode(self.code),
                "kernel": self.kernel,
                "grid": list(self.grid),
                "block": list(self.block),
                "args": [argument.to_json() for argument in self.args],
                "buffers": {name: held.to_json() for name, held in self.buffers.items()},
                "shared_bytes": self.shared_bytes,
                "symbols": {name: value.to_json() for name, value in self.symbols.items()},
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Launch:
        """The inverse of `to_json`.

        Raises:
            InputError: the text describes no launch.
        """
        try:
            value = json.loads(text)
            return cls(
                code=decode(value["code"]),
                kernel=value["kernel"],
                grid=tuple(value["grid"]),
                block=tuple(value["block"]),
                args=tuple(_argument(argument) for argument in value["args"]),
                buffers={k: contents_from_json(held) for k, held in value["buffers"].items()},
                shared_bytes=value["shared_bytes"],
                symbols={k: _struct(symbol) for k, symbol in value["symbols"].items()},
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"Not the description of a launch: {error!r}") from error


class LaunchStatus(StrEnum):
    """How a launch ended."""

    OK = "ok"
    LAUNCH_FAILED = "launch_failed"
    """It never ran: the code or the kernel's name, arguments or extents were refused."""
    MEMORY_FAULT = "memory_fault"
    """An illegal address, or a write next to a buffer."""
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    """The kernel was stopped by a trap, a failed assertion or an illegal instruction."""
    UNSUPPORTED = "unsupported"
    """This device cannot run such code; another one might."""


@dataclass(frozen=True)
class LaunchRun:
    """What came of a launch."""

    status: LaunchStatus
    message: str = ""
    """Details where the status is not OK."""
    outputs: Mapping[str, Array] = field(default_factory=dict)
    """Each buffer after the launch; where the kernel crashed there are none."""
    symbols: Mapping[str, bytes] = field(default_factory=dict)
    """Each variable of `Launch.symbols` after the launch."""
    wall_seconds: float = 0.0
    """From the launch to the kernel's end; copies are not counted."""
    counters: Mapping[str, int] | None = None
    """Dynamic counts by name, from devices that count."""

    def to_json(self) -> str:
        """The run as one line of JSON."""
        return json.dumps(
            {
                "status": self.status.value,
                "message": self.message,
                "outputs": {k: Given.of(array).to_json() for k, array in self.outputs.items()},
                "symbols": {name: encode(data) for name, data in self.symbols.items()},
                "wall_seconds": self.wall_seconds,
                "counters": None if self.counters is None else dict(self.counters),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> LaunchRun:
        """The inverse of `to_json`.

        Raises:
            InputError: the text describes no run.
        """
        try:
            value = json.loads(text)
            outputs = {k: contents_from_json(held) for k, held in value["outputs"].items()}
            return cls(
                status=LaunchStatus(value["status"]),
                message=value["message"],
                outputs={name: held.array() for name, held in outputs.items()},
                symbols={name: decode(data) for name, data in value["symbols"].items()},
                wall_seconds=value["wall_seconds"],
                counters=value["counters"],
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"Not the description of a run: {error!r}") from error


def _argument(value: Mapping[str, Any]) -> Argument:
    if "scalar" in value:
        number = value["value"]
        return Scalar(value["scalar"], float.fromhex(number) if type(number) is str else number)
    if "struct" in value:
        return _struct(value)
    return _pointer(value)


def _struct(value: Mapping[str, Any]) -> Struct:
    pointers = tuple((pointer["at"], _pointer(pointer)) for pointer in value["pointers"])
    return Struct(decode(value["struct"]), pointers)


def _pointer(value: Mapping[str, Any]) -> Pointer:
    return Pointer(value["buffer"], value["offset"])

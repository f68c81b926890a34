"""Contents of buffers: exact, repeatable for ever, and writable as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cass_pipeline.errors import InputError
from cass_pipeline.execute.buffers import DTYPES, Given, Seeded, contents_from_json


@given(hnp.arrays(st.sampled_from(DTYPES), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0)))
def test_given_contents_round_trip(array: np.ndarray[Any, Any]) -> None:
    held = contents_from_json(json.loads(json.dumps(Given.of(array).to_json())))
    back = held.array()
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tobytes() == array.tobytes()


def test_given_contents_are_a_copy() -> None:
    array = np.zeros(3, np.float32)
    held = Given.of(array)
    array[0] = 1
    held.array()[1] = 1
    assert held == Given.of(np.zeros(3, np.float32))


def test_a_strided_array_is_written_in_c_order() -> None:
    array = np.arange(6, dtype=np.int32).reshape(2, 3).T
    assert (Given.of(array).array() == array).all()


@given(st.sampled_from(DTYPES), st.integers(0, 2**64 - 1), st.integers(0, 40))
def test_seeded_contents_round_trip(dtype: str, seed: int, count: int) -> None:
    held = Seeded(dtype, (count,), seed)
    again = contents_from_json(json.loads(json.dumps(held.to_json())))
    assert again == held
    assert again.array().tobytes() == held.array().tobytes()
    assert held.array().dtype == np.dtype(dtype)


def test_seeded_numbers_never_change() -> None:
    """Recorded once: a change here makes every published pair unrepeatable."""
    assert Seeded("float32", (3,), 7, -1, 1).array().tolist() == [
        0.25019094347953796,
        0.7944275736808777,
        0.5513713955879211,
    ]
    assert Seeded("int32", (4,), 7, -100, 100).array().tolist() == [-57, 25, 86, 14]
    assert Seeded("bool", (5,), 7).array().tolist() == [True, True, False, False, True]


@given(st.integers(-(2**63), 2**63 - 1), st.integers(1, 2**64))
def test_integers_stay_in_their_range(low: int, span: int) -> None:
    high = min(low + span, 2**63)
    drawn = Seeded("int64", (50,), 3, low, high).array().tolist()
    assert all(low <= number < high for number in drawn)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_floats_fill_their_range(dtype: str) -> None:
    drawn = Seeded(dtype, (1000,), 1, -2, 3).array()
    assert -2 <= drawn.real.min() < -1.9
    assert 2.9 < drawn.real.max() <= 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: Given("float32", (2,), b"1234"),
        lambda: Given("bfloat16", (1,), b"12"),
        lambda: Given("int8", (-1,), b""),
        lambda: Seeded("int8", (1,), 0, 0, 200),
        lambda: Seeded("int8", (1,), 0, 5, 5),
        lambda: Seeded("int8", (1,), 0, 0.5, 5),
        lambda: Seeded("float32", (1,), -1),
        lambda: Seeded("float32", (1,), 0, 0, float("inf")),
    ],
)
def test_impossible_contents_are_refused(make: Any) -> None:
    with pytest.raises(InputError):
        make()

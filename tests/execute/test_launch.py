"""A launch can be written down, and read back as the same launch."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_pipeline.errors import InputError
from cass_pipeline.execute.buffers import Given, Seeded
from cass_pipeline.execute.launch import (
    Launch,
    LaunchRun,
    LaunchStatus,
    Pointer,
    Scalar,
    Struct,
)

EXTENTS = st.tuples(*[st.integers(1, 1024)] * 3)
NAMES = st.text(min_size=1, max_size=8)
SCALARS = st.one_of(
    st.builds(Scalar, st.just("int32"), st.integers(-(2**31), 2**31 - 1)),
    st.builds(Scalar, st.just("uint64"), st.integers(0, 2**64 - 1)),
    st.builds(Scalar, st.sampled_from(["float32", "float64"]), st.floats()),
    st.builds(Scalar, st.just("bool"), st.booleans()),
)
CONTENTS = st.one_of(
    st.builds(
        lambda data: Given("uint8", (len(data),), data),
        st.binary(max_size=16),
    ),
    st.builds(Seeded, st.just("float32"), st.just((2, 2)), st.integers(0, 99)),
)


@st.composite
def launches(draw: st.DrawFn) -> Launch:
    buffers = draw(st.dictionaries(NAMES, CONTENTS, min_size=1, max_size=3))
    pointers = st.builds(Pointer, st.sampled_from(sorted(buffers)), st.integers(0, 64))
    structs = st.builds(
        Struct,
        st.binary(min_size=8, max_size=24),
        st.lists(st.tuples(st.just(0), pointers), max_size=1).map(tuple),
    )
    return Launch(
        code=draw(st.binary(max_size=32)),
        kernel=draw(NAMES),
        grid=draw(EXTENTS),
        block=draw(EXTENTS),
        args=tuple(draw(st.lists(st.one_of(SCALARS, pointers, structs), max_size=4))),
        buffers=buffers,
        shared_bytes=draw(st.integers(0, 1 << 17)),
        symbols=draw(st.dictionaries(NAMES, structs, max_size=2)),
    )


@given(launches())
def test_a_launch_round_trips(launch: Launch) -> None:
    text = launch.to_json()
    again = Launch.from_json(text)
    # As text: NaN differs from itself.
    assert again.to_json() == text
    assert again.buffers == launch.buffers
    assert [type(a) for a in again.args] == [type(a) for a in launch.args]


@given(SCALARS)
def test_scalars_keep_their_bits(scalar: Scalar) -> None:
    launch = Launch(b"", "k", (1, 1, 1), (1, 1, 1), (scalar,))
    (again,) = Launch.from_json(launch.to_json()).args
    assert isinstance(again, Scalar)
    assert again.to_bytes() == scalar.to_bytes()
    assert type(again.value) is type(scalar.value)


def test_the_text_is_plain_json() -> None:
    args = (Scalar("float32", math.inf), Scalar("float64", 0.1))
    text = Launch(b"\0\xff", "k", (1, 1, 1), (1, 1, 1), args).to_json()

    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is no JSON")

    assert json.loads(text, parse_constant=refuse)["code"] == "AP8="


def test_scalars_are_bytes_of_their_type() -> None:
    assert Scalar("int16", -2).to_bytes() == b"\xfe\xff"
    assert Scalar("float32", 1.0).to_bytes() == b"\0\0\x80?"
    assert Scalar("bool", True).to_bytes() == b"\1"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Scalar("int8", 200),
        lambda: Scalar("uint32", -1),
        lambda: Scalar("complex64", 1),
        lambda: Launch(b"", "k", (0, 1, 1), (1, 1, 1)),
        lambda: Launch(b"", "k", (1, 1), (1, 1, 1)),  # type: ignore[arg-type]
        lambda: Launch(b"", "k", (1, 1, 1), (1, 1, 1), shared_bytes=-1),
        lambda: Launch(b"", "k", (1, 1, 1), (1, 1, 1), (Pointer("none"),)),
        lambda: Launch(
            b"", "k", (1, 1, 1), (1, 1, 1), (Pointer("a", -4),), {"a": Seeded("int8", (1,), 0)}
        ),
        lambda: Launch(
            b"",
            "k",
            (1, 1, 1),
            (1, 1, 1),
            (Struct(b"short", ((0, Pointer("a")),)),),
            {"a": Seeded("int8", (1,), 0)},
        ),
    ],
)
def test_an_impossible_launch_is_refused(make: Any) -> None:
    with pytest.raises(InputError):
        make()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"code": 1}', "null", '{"code": "?"}'])
def test_other_text_is_no_launch(text: str) -> None:
    with pytest.raises(InputError):
        Launch.from_json(text)
    with pytest.raises(InputError):
        LaunchRun.from_json(text)


def test_a_run_round_trips() -> None:
    run = LaunchRun(
        LaunchStatus.MEMORY_FAULT,
        "where",
        outputs={"a": np.array([[1.5, np.nan]], np.float32)},
        symbols={"s": b"\0\1"},
        wall_seconds=0.25,
        counters={"instructions": 12},
    )
    again = LaunchRun.from_json(run.to_json())
    assert again.to_json() == run.to_json()
    assert again.outputs["a"].shape == (1, 2)

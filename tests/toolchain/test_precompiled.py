"""Precompiled headers are used only where they cannot change a unit's meaning."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from cass_pipeline.toolchain.amd import LocalClangToolchain
from cass_pipeline.toolchain.precompiled import Precompiled, PrecompiledHeaders
from cass_pipeline.units import SourceTree
from tests.toolchain.programs import unit

_INCLUDE = "#include <hip/hip_runtime.h>\n"


def _made(_: Path) -> Precompiled:
    return Precompiled(b"headers", "x.o: headers.hip /usr/include/string.h \\\n hip/hip_runtime.h")


@pytest.mark.parametrize(
    "text",
    [
        _INCLUDE,
        '#include "hip/hip_runtime.h"\n',
        "// licence\n\n/* more * of\n it */\n  #  include <hip/hip_runtime.h>\nint x;",
    ],
)
def test_used_where_the_header_comes_first(text: str, tmp_path: Path) -> None:
    file = PrecompiledHeaders(tmp_path).provide(unit(text), "key", _made)
    assert file == tmp_path / "key.pch"
    assert file.read_bytes() == b"headers"


@pytest.mark.parametrize(
    "tree",
    [
        unit("int x;\n" + _INCLUDE),
        unit("#define NDEBUG\n" + _INCLUDE),
        unit("#include <cstdio>\n" + _INCLUDE),
        unit("// #include <hip/hip_runtime.h>\n"),
        unit("/* #include <hip/hip_runtime.h> */"),
        unit("/*" * 5_000 + "*/ x"),
        unit(_INCLUDE, string="// shadows a system header"),
        SourceTree({"m": _INCLUDE, "hip/hip_runtime.h": ""}, "m", ("hip",)),
    ],
)
def test_not_used_where_it_might_change_something(tree: SourceTree, tmp_path: Path) -> None:
    assert PrecompiledHeaders(tmp_path).provide(tree, "key", _made) is None


def test_made_once(tmp_path: Path) -> None:
    calls = list[Path]()

    def make(source: Path) -> Precompiled:
        calls.append(source)
        assert source.read_text() == _INCLUDE
        return _made(source)

    for _ in range(2):
        PrecompiledHeaders(tmp_path).provide(unit(_INCLUDE), "key", make)
    assert len(calls) == 1


def test_toolchains_are_picklable(amd_toolchain: LocalClangToolchain) -> None:
    assert pickle.loads(pickle.dumps(amd_toolchain)) == amd_toolchain

"""Names from outside reach no shell and change no artefact."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_pipeline.assembly import rdna3
from cass_pipeline.outcomes import Outcome
from cass_pipeline.toolchain.amd import LocalClangToolchain
from cass_pipeline.toolchain.interface import Compilation, CompileResult
from cass_pipeline.toolchain.nvidia import LocalNvccToolchain
from cass_pipeline.toolchain.workdir import staged
from cass_pipeline.units import SourceTree
from tests.toolchain.programs import CUDA, HIP

HOSTILE = "-a b$(touch pwned)`touch pwned`;touch pwned&'\"\n*?é雪\\|<>!~"

_BODY = """
#include "near.h"
#include "far.h"
#include "../up.h"
__global__ void k(int *p) { *p = NEAR + FAR + UP; }
"""


def _tree(prefix: str) -> SourceTree:
    folder = f"{HOSTILE}/{HOSTILE}"
    return SourceTree(
        {
            f"{folder}/{HOSTILE}.cu": prefix + _BODY,
            f"{folder}/near.h": "#define NEAR 1\n",
            f"include {HOSTILE}/far.h": "#define FAR 2\n",
            f"{HOSTILE}/up.h": "#define UP 4\n",
        },
        f"{folder}/{HOSTILE}.cu",
        include_dirs=(f"include {HOSTILE}", "."),
    )


def _kept(result: CompileResult) -> Compilation:
    assert result.verdict.outcome is Outcome.KEPT, result.verdict
    assert result.compilation is not None
    return result.compilation


def test_cuda(
    nvidia_toolchain: LocalNvccToolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    compilation = _kept(nvidia_toolchain.compile(_tree(""), CUDA))
    assert "0x7" in compilation.device[0].listing
    assert not list(tmp_path.iterdir())


def test_hip(amd_toolchain: LocalClangToolchain) -> None:
    compilation = _kept(amd_toolchain.compile(_tree("#include <hip/hip_runtime.h>\n"), HIP))
    function = rdna3.split(compilation.device[0].listing)["_Z1kPi"]
    assert any("7" in instruction.operands for instruction in rdna3.instructions(function))


def test_command_line_holds_safe_names_only(tmp_path: Path) -> None:
    with staged(_tree(""), ".cu", {}, tmp_path) as unit:
        named = "".join((unit.main, *unit.include_dirs))
        assert set(named) <= set("abcdefghijklmnopqrstuvwxyz0123456789./")
        assert (unit.folder / unit.main).read_text() == _BODY
    assert not list(tmp_path.iterdir())


def test_a_file_of_the_neutral_name_is_left_alone(tmp_path: Path) -> None:
    tree = SourceTree({"main.cu": "main", "unit.cu": "other"}, "main.cu")
    with staged(tree, ".cu", {}, tmp_path) as unit:
        assert (unit.folder / unit.main).read_text() == "main"
        assert (unit.folder / "src" / "unit.cu").read_text() == "other"

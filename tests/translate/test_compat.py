"""The compatibility header: only what is used, and nothing HIP already has."""

from __future__ import annotations

import re

import pytest

from cass_pipeline.toolchain.amd import LocalClangToolchain
from cass_pipeline.toolchain.interface import CompileSettings
from cass_pipeline.translate import CudaToHip
from cass_pipeline.translate.compat import COMPAT_HEADER, compat_header, compat_names, sections
from cass_pipeline.translate.identifiers import hip_identifiers
from cass_pipeline.units import SourceTree


def translated(text: str) -> SourceTree:
    return CudaToHip().translate(SourceTree({"a/x.cu": text}, "a/x.cu")).tree


def test_a_tree_gets_the_sections_it_uses() -> None:
    tree = translated("__global__ void k(int* p) { *p = __dp4a(p[0], p[1], p[2]); }\n")
    header = tree.files[f"a/{COMPAT_HEADER}"]
    assert "__dp4a" in header
    assert "__syncwarp" not in header
    assert f'#include "{COMPAT_HEADER}"\n' in tree.main_text


def test_a_section_brings_the_sections_it_needs() -> None:
    header = compat_header(frozenset({"__vsads4"}))
    assert header is not None
    assert "__vsadu4" in header


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void k(int* p) { *p = sizeof(int); }\n",
        "__global__ void k(float* p) { *p = sqrt(exp(__shfl_xor_sync(-1, p[0], 1))); }\n",
        "__global__ void k(__half* p) { *p = __hadd(p[0], __habs(p[1])); }\n",
        "// __dp4a\n__global__ void k(int* p) { *p = 1; }\n",
        "__device__ int __dp4a(int a, int b, int c);\n",
    ],
)
def test_no_header_where_nothing_of_it_is_used(text: str) -> None:
    assert set(translated(text).files) == {"a/x.hip"}


def test_what_calls_for_a_section_is_nothing_that_hip_has() -> None:
    wanted_by = {s.title: s.wanted_by & hip_identifiers() for s in sections()[1]}
    bfloat16 = wanted_by.pop("bfloat16")
    assert {title: names for title, names in wanted_by.items() if names} == {}
    assert all("bfloat16" in name for name in bfloat16)


def test_bfloat16_brings_its_class() -> None:
    tree = translated("__global__ void k(__nv_bfloat16* p) { *p = __float2bfloat16(1.f); }\n")
    assert "struct __hip_bfloat16 {" in tree.files[f"a/{COMPAT_HEADER}"]


def test_every_section_compiles(amd_toolchain: LocalClangToolchain) -> None:
    header = compat_header(compat_names())
    assert header is not None
    main = f'#include "{COMPAT_HEADER}"\n__global__ void k(int* p) {{ *p = 1; }}\n'
    tree = SourceTree({"x.hip": main, COMPAT_HEADER: header}, "x.hip")
    result = amd_toolchain.compile(tree, CompileSettings(arches=("gfx1100",)))
    assert result.compilation, result.verdict.evidence


def test_sections_have_titles_of_their_own() -> None:
    titles = [section.title for section in sections()[1]]
    assert len(titles) == len(set(titles))
    assert all(re.fullmatch(r"[\w:, ]+", title) for title in titles)

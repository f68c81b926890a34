"""Warp-level calls, kernel addresses and inline PTX."""

from __future__ import annotations

import pytest

from cass_pipeline.translate.interface import Severity
from tests.translate.helpers import findings_of, translate_header, translate_text


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("s += __shfl_down_sync(0xffffffff, s, d, 8);", "s += __shfl_down(s, d, 8);"),
        ("__shfl_sync(0xFFFFFFFFu, a[i], 0)", "__shfl(a[i], 0)"),
        ("__shfl_xor_sync(-1, f(a, b), 1)", "__shfl_xor(f(a, b), 1)"),
        ("__shfl_up_sync(~0u, s, 1)", "__shfl_up(s, 1)"),
        ("__shfl_up_sync((unsigned)-1, s, 1)", "__shfl_up(s, 1)"),
        ("__any_sync(__activemask(), p)", "__any(p)"),
        ("__all_sync(UINT_MAX, p)", "__all(p)"),
        ("__ballot_sync(0xffffffff, p)", "(unsigned int)__ballot(p)"),
        ("__shfl_sync(mask, s, 0)", "__shfl_sync(mask, s, 0)"),
        ("__shfl_sync(0xffff, s, 0)", "__shfl_sync(0xffff, s, 0)"),
        ("#define ALL 0xffffffff\n__any_sync(ALL, p)", "#define ALL 0xffffffff\n__any(p)"),
        ("const unsigned m = -1;\n__any_sync(m, p)", "const unsigned m = -1;\n__any(p)"),
        ("unsigned m = -1;\n__any_sync(m, p)", "unsigned m = -1;\n__any_sync(m, p)"),
        ("const int m = -1; void f(int m) { __any_sync(m, 1); }",) * 2,
        ("#define ALL 0xff\n__any_sync(ALL, p)", "#define ALL 0xff\n__any_sync(ALL, p)"),
        ("__shfl_sync(0xffffffff,\n  s, 0)", "__shfl(\n  s, 0)"),
        ("__shfl_sync(0xffffffff, /* who */ s, 0)", "__shfl( /* who */ s, 0)"),
        ("__shfl_sync(0xffffffff", "__shfl_sync(0xffffffff"),
        ("#define S __shfl_sync\n", "#define S __shfl_sync\n"),
    ],
)
def test_masks(cuda: str, hip: str) -> None:
    assert translate_text(cuda) == hip


def test_a_function_of_the_program_is_not_a_warp_call() -> None:
    text = "int __any_sync(int a, int b); int x = __any_sync(-1, 0);"
    assert translate_text(text) == text


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        (
            "cudaFuncSetAttribute(k, a, 1);",
            "hipFuncSetAttribute(reinterpret_cast<const void*>(k), a, 1);",
        ),
        (
            "cudaFuncSetCacheConfig(k<1, 2>, c);",
            "hipFuncSetCacheConfig(reinterpret_cast<const void*>(k<1, 2>), c);",
        ),
        (
            "cudaFuncGetAttributes(&a, k);",
            "hipFuncGetAttributes(&a, reinterpret_cast<const void*>(k));",
        ),
        ("cudaStreamWaitEvent(s, e);", "hipStreamWaitEvent(s, e, 0);"),
        ("cudaStreamWaitEvent(s, e, 0);", "hipStreamWaitEvent(s, e, 0);"),
        ("cudaGraphInstantiate(&x, g, 0);", "hipGraphInstantiate(&x, g, nullptr, nullptr, 0);"),
        (
            "cudaFuncSetAttribute((const void*)k, a, 1);",
            "hipFuncSetAttribute((const void*)k, a, 1);",
        ),
    ],
)
def test_kernel_addresses_and_missing_defaults(cuda: str, hip: str) -> None:
    assert translate_text(cuda) == hip


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ('asm volatile("mov.u32 %0, %%laneid;" : "=r"(l));', "l = __lane_id();"),
        ('asm("mov.u32 %0,%laneid;":"=r"(l));', "l = __lane_id();"),
        ('asm volatile("bar.sync 0;");', "__syncthreads();"),
        ('asm volatile("membar.gl;" ::: "memory");', "__threadfence();"),
        (
            'asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(v), "r"(f(a, b)), "r"(n));',
            "r = __bitextract_u32(v, f(a, b), n);",
        ),
        ('asm("popc.b32 %0, "\n"%1;" : "=r"(x[0]) : "r"(v));', "x[0] = __popc(v)\n;"),
    ],
)
def test_simple_ptx(cuda: str, hip: str) -> None:
    assert translate_text(cuda) == hip


def test_other_ptx_is_reported_with_its_text_and_left() -> None:
    text = '\nasm("cp.async.ca.shared.global [%0], [%1], 4;\\n" :: "r"(a), "l"(b));'
    assert translate_text(text) == text
    (finding,) = findings_of(text)
    assert (finding.line, finding.rule, finding.severity) == (2, "inline-ptx", Severity.ERROR)
    assert "cp.async.ca.shared.global [%0], [%1], 4" in finding.message


def test_amd_instructions_of_ported_code_are_no_ptx() -> None:
    assert not findings_of('asm("v_add_u32 %0, %1, %2" : "=v"(a) : "v"(b), "v"(c));')


def test_unclosed_calls_take_no_time() -> None:
    text = "__shfl_sync(" * 2_000 + "asm(" * 2_000
    assert translate_header(text).tree.files["x.cuh"] == text

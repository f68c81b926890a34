"""RDNA3 listings: normal form, parsing, and assembling the normal form again."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cass_pipeline.assembly import rdna3
from cass_pipeline.assembly.listing import Instruction, opcode_histogram
from cass_pipeline.toolchain.amd import LocalClangToolchain
from tests.assembly.elf import functions_of
from tests.toolchain.programs import HIP, HIP_FAMILIES, unit

_PRINTED = """\t.text
\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
\t.amdhsa_code_object_version 5
\t.p2align\t2                               ; -- Begin function _Z3helf
\t.type\t_Z3helf,@function
_Z3helf:                                ; @_Z3helf
.Lfunc_begin0:
\t.file\t0 "/x" "y.hip"
\t.loc\t0 1 2
\t.cfi_sections .debug_frame
; %bb.0:
\ts_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
\tv_dual_mov_b32 v3, 0 :: v_dual_and_b32 v8, 0x7fffffff, v0
                                        ; implicit-def: $vgpr2
\ts_setpc_b64 s[30:31]
.Lfunc_end0:
\t.size\t_Z3helf, .Lfunc_end0-_Z3helf
                                        ; -- End function
\t.section\t.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 12
\t.text
\t.protected\t_Z1kPf                  ; -- Begin function _Z1kPf
\t.globl\t_Z1kPf
\t.p2align\t8
\t.type\t_Z1kPf,@function
_Z1kPf:                                 ; @_Z1kPf
; %bb.0:
\tv_cmpx_ngt_f32_e64 0x48000000, |v0|
\ts_cbranch_execz .LBB1_2
\ts_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
.LBB1_2:
\ts_endpgm
\t.section\t.rodata,"a",@progbits
\t.p2align\t6, 0x0
\t.amdhsa_kernel _Z1kPf
\t\t.amdhsa_group_segment_fixed_size 1024
\t.end_amdhsa_kernel
\t.text
.Lfunc_end1:
\t.size\t_Z1kPf, .Lfunc_end1-_Z1kPf
\t.text
\t.p2alignl 7, 3214868480
\t.fill 96, 4, 3214868480
\t.type\tmessage,@object
message:
\t.asciz\t"a; b // \\"c\\";" ; a comment
\t.ident\t"clang"
\t.section\t".note.GNU-stack","",@progbits
\t.addrsig
\t.addrsig_sym message
\t.amdgpu_metadata
---
amdhsa.kernels:
  - .name:           _Z1kPf
    .symbol:         '_Z1kPf.kd; x'
...

\t.end_amdgpu_metadata
"""

_NORMAL = """\t.text
\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
\t.amdhsa_code_object_version 5
\t.p2align\t2
\t.type\t_Z3helf,@function
_Z3helf:
.Lfunc_begin0:
\ts_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
\tv_dual_mov_b32 v3, 0 :: v_dual_and_b32 v8, 0x7fffffff, v0
\ts_setpc_b64 s[30:31]
.Lfunc_end0:
\t.size\t_Z3helf, .Lfunc_end0-_Z3helf
\t.text
\t.protected\t_Z1kPf
\t.globl\t_Z1kPf
\t.p2align\t8
\t.type\t_Z1kPf,@function
_Z1kPf:
\tv_cmpx_ngt_f32_e64 0x48000000, |v0|
\ts_cbranch_execz .LBB1_2
\ts_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
.LBB1_2:
\ts_endpgm
\t.section\t.rodata,"a",@progbits
\t.p2align\t6, 0x0
\t.amdhsa_kernel _Z1kPf
\t\t.amdhsa_group_segment_fixed_size 1024
\t.end_amdhsa_kernel
\t.text
.Lfunc_end1:
\t.size\t_Z1kPf, .Lfunc_end1-_Z1kPf
\t.text
\t.type\tmessage,@object
message:
\t.asciz\t"a; b // \\"c\\";"
\t.amdgpu_metadata
---
amdhsa.kernels:
  - .name:           _Z1kPf
    .symbol:         '_Z1kPf.kd; x'
...
\t.end_amdgpu_metadata
"""


def test_normal_form() -> None:
    # Raise ARTEFACT_FORMAT in cass_pipeline/toolchain/local.py when this expectation changes.
    assert rdna3.normalise(_PRINTED) == _NORMAL


def test_parse() -> None:
    helper, kernel = rdna3.parse(_PRINTED).functions
    assert (helper.name, helper.descriptor) == ("_Z3helf", None)
    assert (kernel.name, kernel.descriptor) == ("_Z1kPf", {"group_segment_fixed_size": "1024"})
    assert kernel.body.startswith("_Z1kPf:\n\tv_cmpx_ngt_f32_e64")
    assert kernel.body.endswith(".LBB1_2:\n\ts_endpgm\n")
    assert rdna3.parse(_PRINTED).metadata.startswith("---\namdhsa.kernels:\n")
    assert rdna3.parse(_PRINTED) == rdna3.parse(_NORMAL)


def test_instructions() -> None:
    functions = rdna3.split(_NORMAL)
    dual = rdna3.instructions(functions["_Z3helf"])[1]
    assert dual.mnemonic == "v_dual_mov_b32 :: v_dual_and_b32"
    assert dual.operands == ("v3", "0", "v8", "0x7fffffff", "v0")
    parsed = rdna3.instructions(functions["_Z1kPf"])
    assert parsed[0] == Instruction("v_cmpx_ngt_f32_e64", ("0x48000000", "|v0|"))
    assert parsed[1] == Instruction("s_cbranch_execz", (".LBB1_2",))
    assert len(parsed) == 4
    counted = opcode_histogram(rdna3.instructions(functions["_Z3helf"]))
    assert counted["v_dual_and_b32"] == 1


def test_quoted_names() -> None:
    text = '\t.type\t"_Z6éclatv",@function\n"_Z6éclatv":\n\ts_setpc_b64 s[30:31]\n'
    assert list(rdna3.split(text)) == ["_Z6éclatv"]


_LINES = st.lists(st.sampled_from(_PRINTED.split("\n")) | st.text()).map("\n".join)


@given(_LINES)
@example("\t.type\tx,@function\nx:\n\t::\n\t :: \n")
def test_arbitrary_text_is_read_without_error(text: str) -> None:
    parsed = rdna3.parse(text)
    assert list(rdna3.split(text)) == [function.name for function in parsed.functions]
    for function in parsed.functions:
        rdna3.instructions(function.body)


@given(_LINES)
def test_the_normal_form_is_its_own_normal_form(text: str) -> None:
    once = rdna3.normalise(text)
    assert rdna3.normalise(once) == once


_PROGRAMS = {
    **{name: HIP_FAMILIES[name] for name in ("runtime", "cooperative_groups", "hiprand")},
    "calls_and_switches": """
        #include <hip/hip_runtime.h>
        __constant__ float table[16] = {1, 2, 3};
        __device__ __noinline__ float f(float x) { return sinf(x) * table[int(x) & 15]; }
        __device__ __noinline__ float g(float x) { return x > 1 ? f(x - 1) : erff(x); }
        __global__ void first(float *p, int how) {
          __shared__ float tile[256];
          tile[threadIdx.x] = p[threadIdx.x];
          __syncthreads();
          float v = tile[255 - threadIdx.x];
          switch (how) {
            case 0: v = f(v); break;
            case 1: v = g(v); break;
            case 2: v = powf(v, 3.3f); break;
            case 3: v = sqrtf(v); break;
            case 4: v /= p[3]; break;
            default: printf("%d; %f // %s\\n", how, v, "a;b");
          }
          p[threadIdx.x] = v;
        }
        __global__ void second(double *p, float (**call)(float)) {
          p[threadIdx.x] = pow(p[0], 1.5) + call[threadIdx.x](1.f);
        }
    """,
}


_FILL = "\t.text\n\t.p2alignl 7, 3214868480\n\t.fill 96, 4, 3214868480\n"


@pytest.mark.parametrize("name", _PROGRAMS)
def test_the_normal_form_assembles_to_the_same_instructions(
    name: str, amd_toolchain: LocalClangToolchain, tmp_path: Path
) -> None:
    result = amd_toolchain.compile(unit(_PROGRAMS[name]), HIP)
    assert result.compilation is not None, result.verdict.evidence
    code = result.compilation.device[0]
    text, assembled, linked = (tmp_path / f"again.{kind}" for kind in ("s", "o", "co"))
    # With the fill put back, what follows the code has the same distance from it as before.
    text.write_text(code.listing + _FILL)
    assemble: list[str | Path] = [
        amd_toolchain.clang,
        "-x",
        "assembler",
        "-target",
        "amdgcn-amd-amdhsa",
    ]
    subprocess.run([*assemble, "-mcpu=gfx1100", "-c", "-o", assembled, text], check=True)
    link: list[str | Path] = [
        amd_toolchain.linker,
        "-shared",
        "--no-undefined",
        "-o",
        linked,
        assembled,
    ]
    subprocess.run(link, check=True)
    original, again = functions_of(code.binary), functions_of(linked.read_bytes())
    assert original.keys() == again.keys() >= {kernel.name for kernel in code.kernels}
    for function, body in original.items():
        assert again[function] == body, function

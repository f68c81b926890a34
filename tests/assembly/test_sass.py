"""SASS listings: normal form, splitting and instructions."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from cass_pipeline.assembly import sass
from cass_pipeline.assembly.listing import Instruction, opcode_histogram

_PRINTED = """\t.target\tsm_80

\t.elftype\t@"ET_EXEC"

//--------------------- .nv.info                  --------------------------
\t.section\t.nv.info,"",@"SHT_CUDA_INFO"
\t.align\t4
        /*0000*/ \t.byte\t0x04, 0x2f

//--------------------- .text._Z1kPf --------------------------
\t.section\t.text._Z1kPf,"ax",@progbits
\t.sectioninfo\t@"SHI_REGISTERS=10"
\t.align\t128
        .global         _Z1kPf
        .type           _Z1kPf,@function
        .size           _Z1kPf,(.L_x_9 - _Z1kPf)
        .other          _Z1kPf,@"STO_CUDA_ENTRY STV_DEFAULT"
_Z1kPf:
.text._Z1kPf:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_5:
        /*0050*/               @P0 EXIT ;
        /*0060*/              @!P1 BRA `(.L_x_2) ;
        /*0070*/                   LDG.E R2, [R2.64+0x10] ;
        /*0080*/                   CALL.REL.NOINC `($_Z1kPf$_Z3helf) ;
.L_x_2:
        /*0090*/                   BRX R2 -0x120 (*"BRANCH_TARGETS .L_x_2,.L_x_7"*) ;
        /*00a0*/                   NOP ;
        /*00b0*/                   EXIT ;
        .type           $_Z1kPf$_Z3helf,@function
$_Z1kPf$_Z3helf:
        /*00c0*/                   RET.REL.NODEC R12 `(_Z1kPf) ;
.L_x_7:
        /*00d0*/                   BRA `(.L_x_7);
        /*00e0*/                   NOP;
        /*00f0*/                   NOP;
.L_x_9:

//--------------------- .text._Z1gv --------------------------
\t.section\t.text._Z1gv,"ax",@progbits
        .type           _Z1gv,@function
        .other          _Z1gv,@"STV_DEFAULT"
_Z1gv:
.text._Z1gv:
        /*0000*/                   RET.ABS.NODEC R20 0x0 ;
        /*0010*/                   BRA `(.L_x_11);
.L_x_11:
        /*0020*/                   NOP;
"""

_NORMAL = """\t.entry _Z1kPf
_Z1kPf:
\tMOV R1, c[0x0][0x28]
\t@P0 EXIT
\t@!P1 BRA `(.L_0)
\tLDG.E R2, [R2.64+0x10]
\tCALL.REL.NOINC `($_Z1kPf$_Z3helf)
.L_0:
\tBRX R2 -0x120 (*"BRANCH_TARGETS .L_0,.L_1"*)
\tNOP
\tEXIT
$_Z1kPf$_Z3helf:
\tRET.REL.NODEC R12 `(_Z1kPf)
.L_1:
\tBRA `(.L_1)

\t.func _Z1gv
_Z1gv:
\tRET.ABS.NODEC R20 0x0
\tBRA `(.L_0)
.L_0:
"""


def test_normal_form() -> None:
    # Raise ARTEFACT_FORMAT in cass_pipeline/toolchain/local.py when this expectation changes.
    assert sass.normalise(_PRINTED) == _NORMAL


def test_split() -> None:
    functions = sass.split(_NORMAL)
    assert list(functions) == ["_Z1kPf", "_Z1gv"]
    assert "\n".join(functions.values()) == _NORMAL
    assert sass.kernels(_NORMAL) == ["_Z1kPf"]


def test_instructions() -> None:
    parsed = sass.instructions(sass.split(_NORMAL)["_Z1kPf"])
    assert parsed[0] == Instruction("MOV", ("R1", "c[0x0][0x28]"))
    assert parsed[1] == Instruction("EXIT", (), "@P0")
    assert parsed[2] == Instruction("BRA", ("`(.L_0)",), "@!P1")
    assert parsed[3] == Instruction("LDG.E", ("R2", "[R2.64+0x10]"))
    assert parsed[5].operands == ('R2 -0x120 (*"BRANCH_TARGETS .L_0,.L_1"*)',)
    assert len(parsed) == 10
    assert opcode_histogram(parsed)["EXIT"] == 2


_LINES = st.lists(st.sampled_from(_PRINTED.split("\n")) | st.text()).map("\n".join)


@given(_LINES)
@example("\t.entry x\n\t\n\t@P0\n\t@P0 ")
def test_arbitrary_text_is_read_without_error(text: str) -> None:
    for listing in (text, sass.normalise(text)):
        for name, function in sass.split(listing).items():
            assert name
            for instruction in sass.instructions(function):
                assert instruction.mnemonic or instruction.predicate


@given(_LINES)
def test_instructions_survive_printing(text: str) -> None:
    for function in sass.split(sass.normalise(text)).values():
        parsed = sass.instructions(function)
        printed = "".join(f"\t{instruction}\n" for instruction in parsed)
        assert sass.instructions(printed) == parsed


@given(_LINES)
def test_every_block_of_the_normal_form_is_split_off(text: str) -> None:
    listing = sass.normalise(text)
    functions = sass.split(listing)
    assert sum(f"{body}".count("\t.entry ") for body in functions.values()) == listing.count(
        "\t.entry "
    )

"""Host assembly loses the embedded device code and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cass_pipeline.assembly.host import without_embedded_code

_GCC = """\t.file\t"unit.cpp"
\t.text
#APP
\t.section .nv_fatbin, "a"
.align 8
fatbinData:
.quad 0x00100001ba55ed50,0x0000000000004248
.text
#NO_APP
main:
\t.string\t".section .nv_fatbin"
\t.section\t.nvFatBinSegment,"aw"
\t.long\t1180844977
\t.section "__nv_relfatbin", "a"
\t.quad 7
\t.pushsection .hip_fatbin
\t.quad 8
\t.data
\t.long 9
"""


def test_embedded_sections_are_left_out() -> None:
    kept = without_embedded_code(_GCC)
    assert kept == (
        '\t.file\t"unit.cpp"\n\t.text\n#APP\n.text\n#NO_APP\nmain:\n'
        '\t.string\t".section .nv_fatbin"\n\t.section\t.nvFatBinSegment,"aw"\n'
        "\t.long\t1180844977\n\t.data\n\t.long 9\n"
    )


@given(st.text())
def test_other_text_is_left_alone(text: str) -> None:
    if "fatbin" not in text:
        assert without_embedded_code(text) == text


@given(st.lists(st.sampled_from(_GCC.splitlines(keepends=True))).map("".join))
def test_doing_it_twice_changes_nothing(text: str) -> None:
    once = without_embedded_code(text)
    assert without_embedded_code(once) == once

"""Includes, kernels, code lines and `main()`, read without a compiler."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_pipeline.sources.scan import Include, count_code_lines, count_kernels, has_main, includes

SOURCE_PARTS = st.lists(
    st.sampled_from(
        [
            *(
                "#include",
                "<a.h>",
                '"b.h"',
                "\n",
                "\\\n",
                "/*",
                "*/",
                "//",
                '"',
                "'",
                'R"x(',
                ')x"',
            ),
            *("__global__", "void f", "(", ")", "{", "}", ";", "=", "#define", " ", "\\"),
            *("1'000", "é", "\0"),
        ]
    ),
    max_size=40,
).map("".join)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('#include "a.h"', [Include("a.h", quoted=True)]),
        ("  #  include\t<a/b.cuh>  // why", [Include("a/b.cuh", quoted=False)]),
        ('#include \\\n"a.h"\r\n#include "b.h"', [Include("a.h", True), Include("b.h", True)]),
        ("#include /* here */ <a.h>", [Include("a.h", False)]),
        ("#include_next <math.h>", [Include("math.h", False, next_only=True)]),
        ('#if 0\n#include "a.h"\n#endif\n#include "a.h"', [Include("a.h", True)]),
        ('char q = \'"\';\n#include "a.h"', [Include("a.h", True)]),
        ("int million = 1'000'000;\n#include \"a.h\"", [Include("a.h", True)]),
    ],
)
def test_includes_are_found(text: str, found: list[Include]) -> None:
    assert list(includes(text)) == found


@pytest.mark.parametrize(
    "text",
    [
        '// #include "a.h"',
        '// continued \\\n#include "a.h"',
        '/*\n#include "a.h"\n*/',
        'auto s = R"x(\n#include "a.h"\n)x";',
        "#include HEADER",
        '#include ""',
        'x #include "a.h"',
        '#define INCLUDE include "a.h"',
    ],
)
def test_what_is_no_include_is_ignored(text: str) -> None:
    assert includes(text) == ()


@pytest.mark.parametrize(
    ("text", "kernels"),
    [
        ("__global__ void k(int *p) { p[0] = 1; }", 1),
        ('extern "C" __global__ void __launch_bounds__(256, 2)\nk(int n = 3)\n{}', 1),
        ("template <class T> __global__ void k(T x) {}\ntemplate __global__ void k(int);", 1),
        ("__global__ void k(int);", 0),
        ("__global__ void (*p)(int) = other; void f() {}", 0),
        ("__global__ std::enable_if_t<N == 4, void> k() {}", 1),
        ("// __global__ void k() {}\n/* __global__ void k() {} */", 0),
        ('const char *s = "__global__ void k() {}";', 0),
        ('auto s = R"(__global__ void k() {})";', 0),
        ("#define GLOBAL __global__\nvoid f() {}", 0),
        ("#define K(n) __global__ void n() \\\n  { }\nK(a)", 1),
        ("__global__ void\n#if X\na()\n#else\nb()\n#endif\n{}", 1),
        ("int my__global__x() { }", 0),
        ("__global__ void k() { if (a) { } }\n__global__ void l() { }", 2),
    ],
)
def test_kernels_are_definitions(text: str, kernels: int) -> None:
    assert count_kernels(text) == kernels


def test_code_lines_hold_more_than_blanks_and_comments() -> None:
    assert count_code_lines("// a\n\nint x; // b\n/* c\n   d */ int y;\n") == 2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("int main() { }", True),
        ("int main(int argc, char **argv)\n{", True),
        ("auto main() -> int {", True),
        ("int main();", False),
        ("// int main() {", False),
        ("int domain() { }", False),
        ("x = main(1);", False),
    ],
)
def test_main_is_a_definition(text: str, found: bool) -> None:
    assert has_main(text) is found


@given(st.one_of(st.text(max_size=300), SOURCE_PARTS))
def test_no_text_makes_the_scanner_fail(text: str) -> None:
    assert all(include.name for include in includes(text))
    assert count_kernels(text) >= 0
    assert count_code_lines(text) <= text.count("\n") + text.count("\r") + 1
    has_main(text)


@given(SOURCE_PARTS)
def test_a_comment_in_front_changes_nothing(text: str) -> None:
    assert includes(f"/* x */\n{text}") == includes(f"\n{text}")
    assert count_kernels(f"/* __global__ void k() {{}} */\n{text}") == count_kernels(f"\n{text}")


@pytest.mark.parametrize(
    "part",
    ['R"(', "/*", '"', "__global__ ", "int main(", "1'", "// \\\n", "#include <", "main (\t"],
)
def test_hostile_repetition_takes_linear_time(part: str) -> None:
    text = part * (400_000 // len(part))
    start = time.process_time()
    includes(text), count_kernels(text), count_code_lines(text), has_main(text)
    assert time.process_time() - start < 10

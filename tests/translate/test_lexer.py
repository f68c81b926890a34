"""The lexer loses nothing and knows code from what only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_pipeline.translate.lexer import Kind, tokenize

PIECES = st.lists(
    st.sampled_from(
        [
            *('"', "'", 'R"(', 'R"x(', ')"', ')x"', "/*", "*/", "//", "\\", "\n", "\r\n", "#"),
            *("define", "include", "<a.h>", "cudaMalloc", "0x1'0u", "<<<", ">>>", "##", " ", "::"),
            *("é", "(", ")"),
        ]
    )
).map("".join)


@given(st.one_of(st.text(), PIECES))
def test_tokens_concatenate_to_the_input(text: str) -> None:
    assert "".join(token.text for token in tokenize(text)) == text


@given(PIECES)
def test_lines_are_counted(text: str) -> None:
    line = 1
    for token in tokenize(text):
        assert token.line == line
        line += len((token.text + "x").splitlines()) - 1


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('a "b" c', ["a", "c"]),
        (r'a "b\"c" d', ["a", "d"]),
        ("a // b\nc", ["a", "c"]),
        ("a // b \\\nc\nd", ["a", "d"]),
        ("a /* b\n c */ d", ["a", "d"]),
        ('a R"x( b )" )x" c', ["a", "c"]),
        ('LR"(b)" c', ["c"]),
        ('u8"b" c', ["c"]),
        ("'b' c", ["c"]),
        ("1'000'000 c", ["c"]),
        ("0x1fULL c", ["c"]),
        ("1e-5f c", ["c"]),
        ("a \\\n b", ["a", "b"]),
        ("#define A b", ["define", "A", "b"]),
        ("#include <a/b.h>\nc", ["include", "c"]),
        ("#error don't\nc", ["error", "don", "c"]),
        ('"not closed\nc', ["c"]),
        ("/* not closed c", []),
        ('R"(not closed c', ["R"]),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    found = [token.text for token in tokenize(text) if token.kind is Kind.NAME]
    assert found == names or (text.startswith("R") and found in (names, []))


def test_directives_reach_over_continued_lines() -> None:
    tokens = tokenize("#define A \\\n b\nc")
    assert [t.directive for t in tokens if t.text in {"b", "c"}] == ["define", ""]


def test_many_unclosed_raw_strings_take_no_time() -> None:
    text = 'R"(' * 100_000
    assert "".join(token.text for token in tokenize(text)) == text

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_pipeline.corpus.tokens import code_tokens, compared_tokens, token_hash

KERNEL = "__global__ void k(int *p) { *p = 1; }"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("int a; // comment", ["int", "a", ";"]),
        ("int /* b\n c */ a;", ["int", "a", ";"]),
        ("a // goes on \\\n here\nb", ["a", "b"]),
        ('"a // b" "q\\"r"', ['"a // b"', '"q\\"r"']),
        ("'\\'' L'x'", ["'\\''", "L'x'"]),
        ('u8R"(a)" b)" c', ['u8R"(a)"', "b", ")", '" c']),
        ('R"x(a)" b)x" c', ['R"x(a)" b)x"', "c"]),
        ("1'000 1.5e-3f 0x1p+4 .5", ["1'000", "1.5e-3f", "0x1p+4", ".5"]),
        ("k<<<g, b>>>(p)", ["k", "<", "<", "<", "g", ",", "b", ">", ">", ">", "(", "p", ")"]),
        ("a->b::c++ ## ...", ["a", "->", "b", "::", "c", "++", "##", "..."]),
        ("x = y \\\n + 1", ["x", "=", "y", "+", "1"]),
    ],
)
def test_tokens_are_those_of_the_language(text: str, tokens: list[str]) -> None:
    assert code_tokens(text) == tokens


def test_layout_and_comments_do_not_change_the_hash() -> None:
    loose = "int  f( int a )\n{ // adds\n  return a+1; }"
    dense = "int f(int a){return a + 1;}"
    assert token_hash(code_tokens(loose)) == token_hash(code_tokens(dense))


@pytest.mark.parametrize("other", ["int g(int a);", "int f(int b);", "int f(int a, int);"])
def test_names_and_tokens_change_the_hash(other: str) -> None:
    assert token_hash(code_tokens("int f(int a);")) != token_hash(code_tokens(other))


def test_the_hash_depends_on_where_tokens_end() -> None:
    assert token_hash(["ab", "c"]) != token_hash(["a", "bc"])


@pytest.mark.parametrize(
    "hostile", ['R"(', "/*", '"', "'\\", '"\\', "//\\\n", "\\\n", "1e+", ' \\\n "', "u8R"]
)
def test_hostile_text_costs_linear_time(hostile: str) -> None:
    start = time.process_time()
    code_tokens(hostile * 200_000)
    assert time.process_time() - start < 5


@given(st.text())
def test_any_text_gives_tokens_without_white_space_around_them(text: str) -> None:
    for token in code_tokens(text):
        assert token.strip() or token[0] in "\"'"


def test_headers_are_left_out_where_the_main_file_has_kernels() -> None:
    files = {"a.cu": KERNEL, "common.cuh": "__global__ void other();"}
    assert compared_tokens(files, "a.cu") == code_tokens(KERNEL)


def test_kernel_headers_count_where_the_main_file_has_none() -> None:
    main = '#include "k.cuh"\nint main() { run(); }'
    files = {"main.cu": main, "k.cuh": KERNEL, "util.h": "// no __global__ here\nint u;"}
    assert compared_tokens(files, "main.cu") == code_tokens(main) + code_tokens(KERNEL)

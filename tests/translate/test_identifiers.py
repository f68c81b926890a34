"""The index of declared names."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_pipeline.translate.identifiers import (
    declared_names,
    hip_identifiers,
    scan_headers,
)
from cass_pipeline.translate.lexer import tokenize


def test_the_shipped_index_is_that_of_the_installed_headers(rocm_include: Path) -> None:
    assert set(scan_headers(rocm_include)) == hip_identifiers()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("int f(int a);", {"f"}),
        ("static inline T* g() {}", {"g"}),
        ("#define M(x) x", {"M"}),
        ("struct S { int a; };", {"S"}),
        ("enum E { A, B = 2, C };", {"E", "A", "B", "C"}),
        ("enum class E : int { A };", {"E", "A"}),
        ("typedef struct s_st { int a; } S;", {"s_st", "S"}),
        ("typedef int (*fn)(int);", {"fn"}),
        ("using U = int;", {"U"}),
        ("int x = f(g(1));", set()),
        ("int f() { return g(1); }", {"f"}),
        ("int n = sizeof(int);", set()),
        ("// int f();", set()),
        ("#if defined OCML_BASIC_ROUNDED_OPERATIONS\nint f();\n#endif\nint g();", {"g"}),
        ("#ifdef OTHER\nint f();\n#endif\nint g();", {"f", "g"}),
    ],
)
def test_declared_names(text: str, names: set[str]) -> None:
    assert declared_names(tokenize(text)) == names

"""Which bytes are text."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_pipeline.sources.text import NotTextError, decode


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"int x;", "int x;"),
        (b"\xef\xbb\xbfint x;", "int x;"),
        ("// é 中".encode(), "// é 中"),
        ("int x; // 中".encode("utf-16"), "int x; // 中"),
        ("// Müller ©".encode("latin-1"), "// Müller ©"),
    ],
)
def test_text_is_decoded(data: bytes, text: str) -> None:
    assert decode(data) == text


@pytest.mark.parametrize(
    "data",
    [
        b"\x7fELF\0\0",
        "// 共享内存".encode("gbk"),
        "// 共享内存".encode("shift-jis"),
        b"\xff\xfe\x00\xd8",
        "a\0b".encode("utf-16"),
        b"\xff\x01",
    ],
)
def test_what_is_not_text_says_where(data: bytes) -> None:
    with pytest.raises(NotTextError, match=r"NUL|0x|utf-16"):
        decode(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_text_or_refused(data: bytes) -> None:
    with contextlib.suppress(NotTextError):
        decode(data).encode("utf-8")

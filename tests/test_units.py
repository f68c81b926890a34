"""The identity of a unit, and what a source tree refuses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cass_pipeline.errors import InputError
from cass_pipeline.units import Origin, SourceTree, digest_of, is_inside_tree


def tree(text: str, path: str = "a.cu") -> SourceTree:
    return SourceTree({path: text}, path)


def test_line_ends_and_trailing_blanks_do_not_make_another_unit() -> None:
    assert tree("int a;\nint b;").digest() == tree("int a;  \r\nint b;\n").digest()


def test_only_what_compilers_take_for_a_line_end_is_one() -> None:
    """Else a comment could pass for code, under the id of a unit whose results are known."""
    assert tree("//x\u2028int y;").digest() != tree("//x\nint y;").digest()
    assert tree("//x\fint y;").digest() != tree("//x\nint y;").digest()


@pytest.mark.parametrize(
    "other",
    [
        tree("int a; "[:-2] + ","),
        tree("int a;", "b.cu"),
        SourceTree({"a.cu": "int a;", "b.h": ""}, "a.cu"),
        SourceTree({"a.cu": "int a;"}, "a.cu", ("include",)),
    ],
)
def test_text_path_headers_and_include_paths_make_another_unit(other: SourceTree) -> None:
    assert tree("int a;").digest() != other.digest()


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../a.h", "a/../../b", "a\0b", "x" * 2000])
def test_a_path_that_leaves_the_tree_is_refused(path: str) -> None:
    assert not is_inside_tree(path)
    with pytest.raises(InputError):
        SourceTree({"a.cu": "", path: ""}, "a.cu")
    with pytest.raises(InputError):
        SourceTree({"a.cu": ""}, "a.cu", (path,))


def test_the_main_file_must_be_there() -> None:
    with pytest.raises(InputError, match=r"b\.cu"):
        SourceTree({"a.cu": ""}, "b.cu")


def test_a_later_revision_of_a_file_keeps_its_origin() -> None:
    first = Origin("sdist", "package", "1.0", "a.cu")
    assert first.origin_id == Origin("sdist", "package", "2.0", "a.cu", "MIT").origin_id
    assert first.origin_id != Origin("sdist", "package", "1.0", "b.cu").origin_id


@given(st.lists(st.text(), min_size=1), st.lists(st.text(), min_size=1))
def test_digests_tell_sequences_apart(one: list[str], other: list[str]) -> None:
    assert (digest_of(*one) == digest_of(*other)) == (one == other)

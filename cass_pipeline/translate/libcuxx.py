"""Names of CUDA's C++ libraries: `cuda::std::` is the standard library, the rest is reported."""

from __future__ import annotations

from cass_pipeline.translate.identifiers import hip_identifiers
from cass_pipeline.translate.interface import Severity
from cass_pipeline.translate.text import FileText


def translate_libraries(file: FileText, own: frozenset[str]) -> None:
    """Turns `cuda::std::x` into `std::x`; reports what hipCUB and HIP do not have.

    Args:
        file: The file.
        own: Names that the program itself declares, namespaces among them.
    """
    for index, name in file.names():
        colons = file.after(index)
        if name not in {"cuda", "cub"} or colons is None or file.text_at(colons) != "::":
            continue
        if name in own or file.text_at(file.before(index)) == "::":
            continue
        member = file.after(colons)
        if member is None:
            continue
        text = file.text_at(member)
        if name == "cuda" and text == "std":
            file.replace(index, "", "libcu++", "cuda::std:: -> std::", last=member - 1)
        elif name == "cuda":
            message = f"cuda::{text} of libcu++ has no HIP counterpart"
            file.note(index, "unknown-api", message, Severity.ERROR)
        elif text not in hip_identifiers():
            message = f"cub::{text} has no counterpart in hipCUB"
            file.note(index, "unknown-api", message, Severity.ERROR)

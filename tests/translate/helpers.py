"""Short ways to translate one file."""

from __future__ import annotations

from cass_pipeline.translate import CudaToHip
from cass_pipeline.translate.interface import Finding, Translation
from cass_pipeline.units import SourceTree

HEADER = "x.cuh"
"""A path that gets no runtime include of its own: examples show what they are about."""


def translate_text(text: str) -> str:
    """The translation of a text that stands in a header of a small tree."""
    return translate_header(text).tree.files[HEADER]


def translate_header(text: str) -> Translation:
    """The translation of a main file that includes a header with this text."""
    main = f'#include <cuda_runtime.h>\n#include "{HEADER}"\n'
    return CudaToHip().translate(SourceTree({"x.cu": main, HEADER: text}, "x.cu"))


def findings_of(text: str) -> list[Finding]:
    """Findings in a header with this text."""
    return [finding for finding in translate_header(text).findings if finding.path == HEADER]

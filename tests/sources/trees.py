"""Small source trees for the tests, made from texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cass_pipeline.sources.candidate import Candidate
from cass_pipeline.sources.tree import MemoryTree
from cass_pipeline.units import Unit

KERNEL = "__global__ void k(float *p) {\n  p[0] = 1;\n}\n"

MIT = """MIT License

Copyright (c) 2020 A. Person

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
"""


def tree_of(files: Mapping[str, str | bytes]) -> MemoryTree:
    """A tree that holds `files`."""
    data = {p: t.encode() if isinstance(t, str) else t for p, t in files.items()}
    return MemoryTree(data, {path: len(text) for path, text in data.items()}, {})


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """`files` written below `root`, which is returned."""
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
    return root


def reasons(candidates: list[Candidate]) -> dict[str, str]:
    """Path and reason (or `kept`) of each candidate."""
    return {c.origin.path: str(c.verdict.reason or c.verdict.outcome) for c in candidates}


def unit_of(candidate: Candidate) -> Unit:
    """The unit of a candidate that was kept."""
    assert candidate.unit is not None, candidate.verdict
    return candidate.unit

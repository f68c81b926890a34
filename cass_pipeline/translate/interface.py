"""What every CUDA → HIP translator takes and gives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from cass_pipeline.units import SourceTree


class Severity(StrEnum):
    """How a finding bears on the result."""

    INFO = "info"
    """Something was changed, and why."""
    WARNING = "warning"
    """Probably right, but worth a look."""
    ERROR = "error"
    """Not translated: the result is not expected to compile or to do the same thing."""


@dataclass(frozen=True)
class Finding:
    """One thing the translator did or could not do."""

    path: str
    """File in the tree, as it was named in the input."""
    line: int
    """1-based line in the input file."""
    rule: str
    """Short name of the rule, e.g. `api-name`, `launch`, `inline-ptx`."""
    severity: Severity
    message: str


@dataclass(frozen=True)
class Translation:
    """The HIP tree and the findings that belong to it."""

    tree: SourceTree
    findings: tuple[Finding, ...]


class Translator(Protocol):
    """Files in; files and findings out. Pure: the same input gives the same output."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the output for some input could change."""
        ...

    def translate(self, tree: SourceTree) -> Translation:
        """Translates every file of the tree; never raises for what the code says."""
        ...

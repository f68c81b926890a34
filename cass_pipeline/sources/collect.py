"""From a source tree to candidates: the part that all sources share."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from cass_pipeline.errors import ConfigurationError, InfrastructureError
from cass_pipeline.outcomes import Reason
from cass_pipeline.sources.candidate import Candidate, RejectedError
from cass_pipeline.sources.closure import TreeIndex, closure_of
from cass_pipeline.sources.licences import LicenceReader
from cass_pipeline.sources.settings import PathFilter, UnitLimits
from cass_pipeline.sources.spdx import Licence
from cass_pipeline.sources.tags import tag
from cass_pipeline.sources.tree import FileTree
from cass_pipeline.units import Origin, Unit

EVIDENCE_LINES = 20
"""Licence evidence kept with a unit; a closure of 400 files may have as many tags."""


@dataclass(frozen=True)
class TreeSource:
    """What is said about a tree by whoever asked for it."""

    source: str
    """The source's noun, see `Origin.source`."""
    name: str
    revision: str = ""
    licence: str | None = None
    """SPDX expression that replaces what the tree says; None reads the tree."""
    stated_in: str = "sources.yaml"
    """Where `licence` was stated."""

    def origin(self, path: str = "") -> Origin:
        """The origin of a file of the tree, without its licence; `""` is the whole source."""
        return Origin(self.source, self.name, self.revision, path)


class UnitLicences(Protocol):
    """Where the terms of a unit are read."""

    def of_unit(self, texts: Iterable[tuple[str, str]]) -> Licence:
        """The licence of a unit whose files have these paths in the tree, and these texts."""
        ...


def collect_tree(
    tree: FileTree,
    about: TreeSource,
    paths: PathFilter,
    limits: UnitLimits,
    *,
    licences: UnitLicences | None = None,
    encodings: Mapping[str, str] | None = None,
) -> Iterator[Candidate]:
    """One candidate for each file of `tree` that `paths` takes, in the order of their paths.

    Entries that are not files of the tree (links that lead out, devices) are candidates too, with
    the reason; so is the tree as a whole if it has none. One file's fault stops no other.

    Args:
        tree: what is read.
        about: what is known of it already.
        paths: which of its files are candidates.
        limits: the largest unit that is made.
        licences: reads the terms; None reads them in the tree.
        encodings: those that an archive recorded, by path; the others are worked out.

    Raises:
        ConfigurationError: the tree cannot be read with these settings.
        InfrastructureError: what it is read from is out of order.
    """
    index = TreeIndex(tree, limits, encodings)
    reader = _Reader(index, licences or LicenceReader(tree), about, limits)
    wanted = sorted(
        {path for path in tree.sizes if paths.takes(path)}
        | {path for path in tree.unusable if paths.takes(path) or path.endswith("/")}
    )
    if not wanted:
        evidence = f"{len(tree.sizes)} files, none matches {' '.join(paths.include)}"
        yield Candidate.because(about.origin(), Reason.NO_CUDA_FILES, evidence)
    for path in wanted:
        yield reader.candidate(path)


@dataclass(frozen=True)
class _Reader:
    index: TreeIndex
    licences: UnitLicences
    about: TreeSource
    limits: UnitLimits

    def candidate(self, path: str) -> Candidate:
        origin = self.about.origin(path)
        if path in self.index.tree.unusable:
            return Candidate.because(origin, Reason.PATH_ESCAPES, self.index.tree.unusable[path])
        try:
            return Candidate.kept(self._unit(origin))
        except RejectedError as rejected:
            return Candidate(origin, rejected.verdict)
        except OSError as error:
            return Candidate.because(origin, Reason.SOURCE_UNAVAILABLE, f"{path}: {error}")
        except (ConfigurationError, InfrastructureError):
            raise
        except Exception:
            return Candidate.because(origin, Reason.INTERNAL_ERROR, traceback.format_exc())

    def _unit(self, origin: Origin) -> Unit:
        closure = closure_of(self.index, origin.path, self.limits)
        if self.about.licence is not None:
            licence = Licence(self.about.licence, (f"stated in {self.about.stated_in}",))
        else:
            licence = self.licences.of_unit(closure.texts.items())
        origin = replace(
            origin, licence=licence.expression, licence_evidence=licence.evidence[:EVIDENCE_LINES]
        )
        return Unit(closure.tree, origin, tag(closure), closure.sources)

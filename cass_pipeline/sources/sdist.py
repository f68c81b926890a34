"""CUDA in source distributions of Python packages: downloaded, read, never built.

Cache: `<cache>/<package>/<version>/<archive>`. A pinned version found there needs no network.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from cass_pipeline.outcomes import Reason
from cass_pipeline.sources.archive import is_wanted, read_archive
from cass_pipeline.sources.candidate import Candidate, RejectedError
from cass_pipeline.sources.collect import TreeSource, collect_tree
from cass_pipeline.sources.config import PackageSpec
from cass_pipeline.sources.package_index import PackageIndex, canonical_name, package_index
from cass_pipeline.sources.pip_settings import IndexSettings
from cass_pipeline.sources.settings import ArchiveLimits, FetchLimits, UnitLimits


def collect_packages(
    packages: Iterable[PackageSpec],
    cache: Path,
    settings: IndexSettings,
    *,
    limits: UnitLimits | None = None,
    archive_limits: ArchiveLimits | None = None,
    fetch_limits: FetchLimits | None = None,
) -> Iterator[Candidate]:
    """One candidate for each `.cu` file of each package, or one for a package as a whole.

    `cache` is a folder of this function's own; `settings` usually come from
    `pip_index_settings()`. A package that cannot be had is SOURCE_UNAVAILABLE and stops no other.

    Raises:
        ConfigurationError: the settings name a certificate file that cannot be read, or no index.
    """
    archive_limits = archive_limits or ArchiveLimits()
    fetch_limits = fetch_limits or FetchLimits()
    with package_index(settings, fetch_limits, archive_limits) as index:
        for spec in packages:
            yield from _collect(spec, index, cache, limits or UnitLimits(), archive_limits)


def _collect(
    spec: PackageSpec,
    index: PackageIndex,
    cache: Path,
    limits: UnitLimits,
    archive_limits: ArchiveLimits,
) -> Iterator[Candidate]:
    about = TreeSource("sdist", canonical_name(spec.name), spec.version or "", spec.licence)
    try:
        found = index.fetch(spec, cache)
        about = replace(about, revision=found.version)
        tree = read_archive(
            found.archive,
            archive_limits,
            limits.file_bytes,
            lambda path: is_wanted(path) or spec.paths.takes(path),
        )
        yield from collect_tree(tree, about, spec.paths, limits)
    except RejectedError as rejected:
        yield Candidate(about.origin(), rejected.verdict)
    except OSError as error:
        yield Candidate.because(about.origin(), Reason.SOURCE_UNAVAILABLE, str(error))
    except Exception:
        yield Candidate.because(about.origin(), Reason.INTERNAL_ERROR, traceback.format_exc())

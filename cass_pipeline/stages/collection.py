"""`local_kernels`, `repository_kernels`, `sdist_kernels`: every `.cu` file of the sources.

Each repository and package is one piece of work, addressed by its commit or version, so that a
nightly run reads only what is new. A source that cannot be reached keeps the rows it had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from cass_pipeline.errors import ConfigurationError
from cass_pipeline.fanout import Fanout, SerialFanout
from cass_pipeline.outcomes import Reason, Verdict
from cass_pipeline.records import COLLECTED, Row, collected_row
from cass_pipeline.sources.candidate import Candidate, RejectedError
from cass_pipeline.sources.config import PackageSpec, RepositorySpec
from cass_pipeline.sources.local import collect_folder
from cass_pipeline.sources.opt_outs import OptOut, OptOuts
from cass_pipeline.sources.package_index import canonical_name, package_index
from cass_pipeline.sources.pip_settings import IndexSettings
from cass_pipeline.sources.repository import collect_repositories, fetched, without_credentials
from cass_pipeline.sources.sdist import collect_packages
from cass_pipeline.sources.settings import ArchiveLimits, FetchLimits, UnitLimits
from cass_pipeline.stage import (
    Effort,
    Log,
    StageReport,
    Work,
    report_of,
    run_stage,
    run_whole_stage,
)
from cass_pipeline.stages.opt_outs import honour, without_content
from cass_pipeline.store import CorpusStore, Table
from cass_pipeline.units import Origin, digest_of

VERSION = "2"
"""Raised when the same source would give other candidates."""
_NO_OPT_OUTS = OptOuts()


def update_local(
    store: CorpusStore,
    folder: Path,
    licence: str | None,
    log: Log,
    opt_outs: OptOuts = _NO_OPT_OUTS,
) -> StageReport:
    """Collects a folder. It is read anew each time, since only its files say what changed.

    Raises:
        InputError: there is no such folder.
    """
    rows = [_honoured(row, opt_outs) for row in _rows(collect_folder(folder, licence=licence))]
    content_key = digest_of("local_kernels", VERSION, *(_identity(row) for row in rows))
    rows = [row | {"key": digest_of(content_key, row["origin_id"])} for row in rows]
    table = store.table("local_kernels", COLLECTED)
    report = run_whole_stage(table, content_key, lambda: rows, len(rows), log=log)
    honour(store, table, opt_outs, log)
    return report


def update_repositories(
    store: CorpusStore,
    specs: Iterable[RepositorySpec],
    cache: Path,
    fanout: Fanout,
    log: Log,
    opt_outs: OptOuts = _NO_OPT_OUTS,
) -> StageReport:
    """Collects every repository at its revision; a branch is asked for its newest commit.

    Raises:
        ConfigurationError: a repository is listed twice.
    """
    table = store.table("repository_kernels", COLLECTED)
    known = _known_keys(table)
    works = []
    cache.mkdir(parents=True, exist_ok=True)
    for spec in specs:
        name = without_credentials(spec.url)
        if entry := opt_outs.of_source(name):
            works.append(_opted_out("repository", name, entry, known.get(name)))
            continue
        try:
            commit, _ = fetched(spec, cache, FetchLimits())
            pinned = replace(spec, revision=commit)
            works.append(_work(name, repr(replace(pinned, url=name)), pinned))
        except (RejectedError, OSError) as error:
            log(f"{name} cannot be reached ({error}); what it gave before stays")
            works.append(_work(name, "", spec, known.get(name)))
    return _run(store, table, works, _CollectRepository(cache), fanout, log, opt_outs)


def update_sdists(
    store: CorpusStore,
    specs: Iterable[PackageSpec],
    cache: Path,
    settings: IndexSettings,
    fanout: Fanout,
    log: Log,
    opt_outs: OptOuts = _NO_OPT_OUTS,
) -> StageReport:
    """Collects the source distribution of every package; without a version, the newest.

    Raises:
        ConfigurationError: pip's settings cannot be used, or a package is listed twice.
    """
    table = store.table("sdist_kernels", COLLECTED)
    known = _known_keys(table)
    works = []
    with package_index(settings, FetchLimits(), ArchiveLimits()) as index:
        for spec in specs:
            name = canonical_name(spec.name)
            if entry := opt_outs.of_source(name):
                works.append(_opted_out("sdist", name, entry, known.get(name)))
                continue
            try:
                pinned = replace(spec, version=index.fetch(spec, cache).version)
                works.append(_work(name, repr(pinned), pinned))
            except (RejectedError, OSError) as error:
                log(f"{name} cannot be had ({error}); what it gave before stays")
                works.append(_work(name, "", spec, known.get(name)))
    return _run(store, table, works, _CollectPackage(cache, settings), fanout, log, opt_outs)


@dataclass(frozen=True)
class _CollectRepository:
    cache: Path

    def __call__(self, row: Row) -> list[Row]:
        return row["instead"] or _rows(collect_repositories([row["spec"]], self.cache))


@dataclass(frozen=True)
class _CollectPackage:
    cache: Path
    settings: IndexSettings

    def __call__(self, row: Row) -> list[Row]:
        found = row["instead"] or _rows(collect_packages([row["spec"]], self.cache, self.settings))
        return found


def _work(
    name: str, identity: str, spec: RepositorySpec | PackageSpec, known: str | None = None
) -> Work:
    """`known` is the key of what the source gave when it could last be reached."""
    key = known or digest_of(name, identity, VERSION, repr(UnitLimits()), repr(ArchiveLimits()))
    columns: Row = {"spec": spec, "name": name, "out_of_reach": known is not None, "instead": []}
    return Work(key, "", columns)


def _opted_out(source: str, name: str, entry: OptOut, known: str | None) -> Work:
    """A source that is not even fetched; what it gave before keeps its rows, without content."""
    origin = Origin(source, name, "", "")
    row = collected_row("", origin, Verdict.because(Reason.OPTED_OUT, entry.evidence), None)
    key = known or digest_of(name, entry.entry_id, VERSION)
    return Work(key, "", {"name": name, "out_of_reach": known is not None, "instead": [row]})


def _run(
    store: CorpusStore,
    table: Table,
    works: list[Work],
    worker: _CollectRepository | _CollectPackage,
    fanout: Fanout,
    log: Log,
    opt_outs: OptOuts,
) -> StageReport:
    by_key = {work.key: work for work in works}
    names = Counter(work.row["name"] for work in works)
    if twice := [name for name, count in names.items() if count > 1]:
        raise ConfigurationError(
            f"{table.name}: {twice[0]} is listed more than once; make one entry of it"
        )

    def load(todo: set[str]) -> Iterator[Work]:
        # Of a source out of reach, failed files cannot be tried again now, and good ones stay.
        waiting = (work for key, work in by_key.items() if key in todo)
        return (work for work in waiting if not work.row["out_of_reach"])

    chosen: Fanout = fanout if len(works) > 1 else SerialFanout()
    honour(store, table, opt_outs, log)
    report = run_stage(table, list(by_key), load, worker, chosen, batch_size=1, log=log)
    honour(store, table, opt_outs, log)
    # Only reading a source tells how many files it holds.
    effort = Effort(report.computed, report.reused, report.seconds)
    return report_of(table, table.row_count(), effort)


def _rows(candidates: Iterable[Candidate]) -> list[Row]:
    """Rows whose key is yet to be set: what addresses them is known to the caller."""
    return [collected_row("", item.origin, item.verdict, item.unit) for item in candidates]


def _honoured(row: Row, opt_outs: OptOuts) -> Row:
    entry = opt_outs.of_row(row | {"source_files": row.get("source_files")})
    return without_content(row, entry) if entry else row


def _known_keys(table: Table) -> dict[str, str]:
    names = table.read(["source_name", "key"]).to_pylist()
    return {row["source_name"]: row["key"] for row in names}


def _identity(row: Row) -> str:
    names = ("origin_id", "unit_id", "outcome", "reason", "evidence", "licence", "licence_evidence")
    return repr([row[name] for name in names])

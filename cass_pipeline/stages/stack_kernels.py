"""`stack_kernels`: every `.cu` file that a dataset in the form of The Stack v2 lists.

A repository is one piece of work, addressed by what the dataset says of its files. Blobs that were
fetched stay in the cache, so that a run that was stopped fetches none of them again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cass_pipeline.corpus.engine import Engine
from cass_pipeline.errors import InfrastructureError
from cass_pipeline.fanout import ThreadFanout
from cass_pipeline.outcomes import Reason, Verdict
from cass_pipeline.records import COLLECTED, Row, collected_row
from cass_pipeline.sources.blobs import BlobCache, BlobSource, FolderBlobs, blob_cache
from cass_pipeline.sources.bucket import BucketBlobs
from cass_pipeline.sources.config import StackSpec
from cass_pipeline.sources.opt_outs import OptOuts
from cass_pipeline.sources.settings import UnitLimits
from cass_pipeline.sources.stack import collect_stack_repository
from cass_pipeline.sources.stack_metadata import StackMetadata, StackRepository, stack_metadata
from cass_pipeline.stage import Effort, Log, StageReport, Work, report_of, run_stage
from cass_pipeline.stages.opt_outs import honour
from cass_pipeline.store import CorpusStore, Table
from cass_pipeline.units import Origin, digest_of

VERSION = "1"
"""Raised when the same files would give other candidates."""
REPOSITORY_WORKERS = 4
"""Repositories in memory at the same time; their files are fetched by more threads."""
BATCH_SIZE = 32
"""Repositories of one shard; most have a handful of files."""
_NO_OPT_OUTS = OptOuts()


def update(
    store: CorpusStore,
    spec: StackSpec | None,
    cache: Path,
    engine: Engine,
    log: Log,
    opt_outs: OptOuts = _NO_OPT_OUTS,
    *,
    token: str | None = None,
) -> StageReport:
    """Collects the dataset; without one, nothing. Out of reach, it keeps the rows it gave before.

    Args:
        store: the tables.
        spec: the dataset, and where its contents lie.
        cache: a folder of this function's own, for metadata and contents.
        engine: sorts the metadata.
        log: told about progress.
        opt_outs: what must not even be fetched.
        token: for a dataset whose terms somebody accepted; None is the Hub client's own.

    Raises:
        ConfigurationError: the dataset or the archive of contents cannot be used as it is set.
    """
    table = store.table("stack_kernels", COLLECTED)
    honour(store, table, opt_outs, log)
    if spec is None:
        log(
            "stack_kernels: no dataset is named; a section `stack:` in config/sources.yaml does it "
            "(docs/sources.md)"
        )
        return _run(table, [], None, opt_outs, log)
    try:
        metadata = stack_metadata(spec, cache / "metadata", token, log)
        metadata.read()
    except InfrastructureError as error:
        log(f"{error}; what it gave before stays")
        return _out_of_reach(table, spec, error, log)
    source = _source(spec)
    folder = cache / "contents" / digest_of(spec.bucket.location, spec.bucket.endpoint)[:32]
    with blob_cache(source, folder, workers=spec.workers, largest=UnitLimits().file_bytes) as blobs:
        report = _run(table, _Works(metadata, engine, spec), blobs, opt_outs, log)
    honour(store, table, opt_outs, log)
    return report


@dataclass(frozen=True)
class _Works:
    """The repositories as work; iterated twice, since they may not fit into memory."""

    metadata: StackMetadata
    engine: Engine
    spec: StackSpec

    def __iter__(self) -> Iterator[Work]:
        location = f"{self.spec.bucket.location} {self.spec.bucket.endpoint}"
        for one in self.metadata.repositories(self.engine):
            facts = (repr(one.files), repr(sorted(one.wanted)), repr(UnitLimits()))
            key = digest_of("stack_kernels", VERSION, location, one.name, *facts)
            yield Work(key, "", {"repository": one})


@dataclass(frozen=True)
class _Collect:
    blobs: BlobCache | None
    opt_outs: OptOuts

    def __call__(self, row: Row) -> list[Row]:
        if self.blobs is None:
            return [row]
        repository: StackRepository = row["repository"]
        return list(collect_stack_repository(repository, self.blobs, UnitLimits(), self.opt_outs))


def _run(
    table: Table,
    works: _Works | list[Work],
    blobs: BlobCache | None,
    opt_outs: OptOuts,
    log: Log,
) -> StageReport:
    def load(todo: set[str]) -> Iterator[Work]:
        return (work for work in works if work.key in todo)

    keys = [work.key for work in works]
    worker = _Collect(blobs, opt_outs)
    fanout = ThreadFanout(REPOSITORY_WORKERS)
    report = run_stage(table, keys, load, worker, fanout, batch_size=BATCH_SIZE, log=log)
    # Only rebuilding a repository tells how many candidates it has.
    return report_of(
        table, table.row_count(), Effort(report.computed, report.reused, report.seconds)
    )


def _out_of_reach(
    table: Table, spec: StackSpec, error: InfrastructureError, log: Log
) -> StageReport:
    if table.row_count():
        return report_of(table, table.row_count(), Effort(0, 0, 0.0))
    origin = Origin("stack", spec.dataset, spec.revision, "")
    row = collected_row("", origin, Verdict.because(Reason.SOURCE_UNAVAILABLE, str(error)), None)
    key = digest_of("stack_kernels", "out of reach", spec.dataset)
    return _run(table, [Work(key, "", row)], None, _NO_OPT_OUTS, log)


def _source(spec: StackSpec) -> BlobSource:
    location = spec.bucket.location
    return (
        FolderBlobs(Path(location))
        if "://" not in location
        else BucketBlobs(spec.bucket, spec.workers)
    )

"""`corpus`: the pairs to publish and their kernels, as the tables that are validated."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cass_pipeline.assembly import rdna3, sass
from cass_pipeline.corpus.engine import Engine, batches
from cass_pipeline.errors import StoreError
from cass_pipeline.outcomes import Outcome, Reason, Verdict
from cass_pipeline.records import (
    CORPUS,
    DISTINCT_PAIRS,
    KERNEL_RESOURCES,
    PUBLISHED_KERNELS,
    PUBLISHED_PAIRS,
    VERIFIED_PAIRS,
    Row,
    verdict_columns,
)
from cass_pipeline.sources.opt_outs import OptOuts
from cass_pipeline.stage import Log, StageReport, run_whole_stage
from cass_pipeline.stages.opt_outs import Removal, opted_out_units, record
from cass_pipeline.store import CorpusStore, batched
from cass_pipeline.units import digest_of

VERSION = "2"
"""Raised when the same pairs would give other rows."""
_BATCH_ROWS = 32
_NO_OPT_OUTS = OptOuts()
_RESOURCES = [field.name for field in KERNEL_RESOURCES]


def update(
    store: CorpusStore, engine: Engine, log: Log, opt_outs: OptOuts = _NO_OPT_OUTS
) -> StageReport:
    """Writes `pairs.parquet` and `kernels.parquet` of the representatives, sorted by id.

    A unit that was opted out since it was collected is left out here.
    """
    distinct = store.table("distinct_pairs", DISTINCT_PAIRS)
    chosen = distinct.kept(["key", "unit_id", "pair_id", "cluster_id"]).sort_by("pair_id")
    removed = opted_out_units(store, opt_outs)
    gone = sorted(removed.keys() & set(chosen["unit_id"].to_pylist()))
    record(store, [removed[unit_id] for unit_id in gone], opt_outs, log)
    content_key = digest_of("corpus", VERSION, *chosen["key"].to_pylist(), *gone)
    folder = corpus_folder(store)
    key_file = folder / "key"

    def compute() -> Iterator[Row]:
        stays = pc.invert(pc.is_in(chosen["unit_id"], pa.array(gone, pa.string())))
        _write(store, engine, chosen.filter(stays), folder, content_key)
        for row in chosen.to_pylist():
            key = digest_of(content_key, row["pair_id"])
            yield row | verdict_columns(_verdict(removed.get(row["unit_id"]))) | {"key": key}

    table = store.table("corpus", CORPUS)
    current = key_file.is_file() and key_file.read_text() == content_key
    return run_whole_stage(table, content_key, compute, chosen.num_rows, log=log, force=not current)


def corpus_folder(store: CorpusStore) -> Path:
    """Where the files are."""
    return store.root / "corpus"


def pair_files(store: CorpusStore) -> list[Path]:
    """Unit-level rows, of `records.PUBLISHED_PAIRS`."""
    return [corpus_folder(store) / "pairs.parquet"]


def kernel_files(store: CorpusStore) -> list[Path]:
    """Kernel-level rows, of `records.PUBLISHED_KERNELS`."""
    return [corpus_folder(store) / "kernels.parquet"]


def kernel_rows(pair: Row) -> Iterator[Row]:
    """A row for each kernel that both sides have, and each combination of their targets."""
    cuda, hip = _resources(pair["cuda_kernels"]), _resources(pair["hip_kernels"])
    sass_of = {item["arch"]: sass.split(item["listing"]) for item in pair["sass"]}
    rdna3_of = {item["arch"]: rdna3.split(item["listing"]) for item in pair["rdna3"]}
    for match, sm_arch, gfx_arch in product(pair["kernels"], sorted(sass_of), sorted(rdna3_of)):
        # A kernel may be compiled for some targets only (`#if __CUDA_ARCH__`).
        if (sm_arch, match["cuda"]) in cuda and (gfx_arch, match["hip"]) in hip:
            yield {
                "pair_id": pair["pair_id"],
                "unit_id": pair["unit_id"],
                "kernel": match["cuda"],
                "hip_kernel": match["hip"],
                "demangled": cuda[sm_arch, match["cuda"]]["demangled"],
                "sm_arch": sm_arch,
                "gfx_arch": gfx_arch,
                "sass": sass_of[sm_arch][match["cuda"]],
                "rdna3": rdna3_of[gfx_arch][match["hip"]],
                "cuda_resources": _only_resources(cuda[sm_arch, match["cuda"]]),
                "hip_resources": _only_resources(hip[gfx_arch, match["hip"]]),
                "licence": pair["licence"],
                "verification_level": pair["verification"]["level"],
                "cluster_id": pair["cluster_id"],
            }


def _verdict(removal: Removal | None) -> Verdict:
    if removal is None:
        return Verdict.kept()
    return Verdict.because(Reason.OPTED_OUT, removal.entry.evidence)


def _write(
    store: CorpusStore, engine: Engine, chosen: pa.Table, folder: Path, content_key: str
) -> None:
    """Both files are built beside the folder and then put in its place together."""
    building = folder.with_name(f".{folder.name}")
    try:
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir(parents=True)
        with (
            pq.ParquetWriter(
                building / "pairs.parquet", PUBLISHED_PAIRS, compression="zstd"
            ) as pairs,
            pq.ParquetWriter(
                building / "kernels.parquet", PUBLISHED_KERNELS, compression="zstd"
            ) as kernels,
        ):
            for rows in batched(_published(store, engine, chosen), _BATCH_ROWS):
                _append(pairs, rows)
                _append(kernels, (kernel for row in rows for kernel in kernel_rows(row)))
        # The files say themselves what they were made from: a kill may part them from the table.
        (building / "key").write_text(content_key)
        shutil.rmtree(folder, ignore_errors=True)
        building.rename(folder)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(
            f"the corpus cannot be written to {folder}: {error}; mend it and run this again"
        ) from error
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _append(writer: pq.ParquetWriter, rows: Iterable[Row]) -> None:
    writer.write_table(pa.Table.from_pylist(list(rows), schema=writer.schema))


def _published(store: CorpusStore, engine: Engine, chosen: pa.Table) -> Iterator[Row]:
    files = [str(path) for path in store.table("verified_pairs", VERIFIED_PAIRS).paths()]
    if not files or not chosen.num_rows:
        return
    columns = [f"pairs.{name}" for name in PUBLISHED_PAIRS.names if name != "cluster_id"]
    query = (
        f"SELECT {', '.join(columns)}, chosen.cluster_id "  # noqa: S608 - our own column names
        "FROM pairs JOIN chosen USING (pair_id) ORDER BY pair_id"
    )
    with engine.connect() as connection:
        rows = connection.read_parquet(files).filter(f"outcome = '{Outcome.KEPT.value}'")
        rows.create_view("pairs")
        connection.register("chosen", chosen)
        for batch in batches(connection, query, rows=_BATCH_ROWS):
            yield from batch.to_pylist()


def _resources(kernels: list[Row]) -> dict[tuple[str, str], Row]:
    return {(kernel["arch"], kernel["name"]): kernel for kernel in kernels}


def _only_resources(kernel: Row) -> Row:
    return {name: kernel[name] for name in _RESOURCES}

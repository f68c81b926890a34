"""`verified_pairs`: everything known about a pair, in one row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import pyarrow as pa

from cass_pipeline.assembly.matching import match_kernels
from cass_pipeline.corpus.domains import domain_of
from cass_pipeline.corpus.engine import Engine, batches
from cass_pipeline.corpus.tokens import code_tokens
from cass_pipeline.fanout import Fanout
from cass_pipeline.outcomes import Outcome, Reason, Verdict
from cass_pipeline.records import (
    COLLECTED,
    CUDA_OBJECTS,
    EXECUTIONS,
    HIP_KERNELS,
    HIP_OBJECTS,
    PAIR,
    VERIFIED_PAIRS,
    Row,
    verdict_columns,
)
from cass_pipeline.stage import Log, StageReport, Work, run_stage
from cass_pipeline.store import CorpusStore, Table
from cass_pipeline.units import digest_of

BATCH_SIZE = 32
VERSION = "2"
"""Raised when `pair_row` makes something else of the same inputs."""


def update(store: CorpusStore, engine: Engine, fanout: Fanout, log: Log) -> StageReport:
    """Joins source, objects and execution of every unit of `executions` into one pair row."""
    tables = _inputs(store)
    keys = _pair_keys(tables)

    def load(todo: set[str]) -> Iterator[Work]:
        unit_of = {keys[unit_id]: unit_id for unit_id in keys if keys[unit_id] in todo}
        for row in _joined(tables, engine, list(unit_of.values())):
            yield Work(keys[row["unit_id"]], row["unit_id"], row)

    return run_stage(
        store.table("verified_pairs", VERIFIED_PAIRS),
        list(keys.values()),
        load,
        pair_row,
        fanout,
        batch_size=BATCH_SIZE,
        log=log,
    )


def pair_row(row: Row) -> Row:
    """The columns of a pair, from the joined row of its unit."""
    matches = match_kernels(_names(row["cuda_kernels"]), _names(row["hip_kernels"]))
    if not matches:
        return verdict_columns(Verdict.because(Reason.NO_COMMON_KERNEL, _names_of_both(row)))
    cuda_source = _texts(row["files"])[row["main_path"]]
    hip_source = _texts(row["hip_files"])[row["hip_main_path"]]
    made = {
        "pair_id": digest_of(row["unit_id"], row["hip_id"]),
        "domain": domain_of(_texts(row["files"]), row["main_path"]),
        "cuda_source": cuda_source,
        "hip_source": hip_source,
        "cuda_files": row["files"],
        "cuda_main_path": row["main_path"],
        "kernels": [asdict(match) for match in matches],
        "optimisation": row["cuda_optimisation"],
        "code_tokens": len(code_tokens(cuda_source)) + len(code_tokens(hip_source)),
    }
    taken = {name: row[name] for name in PAIR.names if name not in made}
    return {**verdict_columns(Verdict.kept()), **made, **taken}


def _inputs(store: CorpusStore) -> dict[str, Table]:
    return {
        "raw_kernels": store.table("raw_kernels", COLLECTED),
        "hip_kernels": store.table("hip_kernels", HIP_KERNELS),
        "cuda_objects": store.table("cuda_objects", CUDA_OBJECTS),
        "hip_objects": store.table("hip_objects", HIP_OBJECTS),
        "executions": store.table("executions", EXECUTIONS),
    }


def _pair_keys(tables: dict[str, Table]) -> dict[str, str]:
    """Content key by unit: the keys of everything that goes into the pair."""
    parts: dict[str, list[str]] = {
        unit_id: [] for unit_id in tables["executions"].kept(["unit_id"])["unit_id"].to_pylist()
    }
    for table in tables.values():
        for row in table.kept(["unit_id", "key"]).to_pylist():
            if row["unit_id"] in parts:
                parts[row["unit_id"]].append(row["key"])
    return {unit_id: digest_of("verified_pairs", VERSION, *parts[unit_id]) for unit_id in parts}


def _joined(tables: dict[str, Table], engine: Engine, unit_ids: list[str]) -> Iterator[Row]:
    """Rows with the columns of all inputs; DuckDB spills what does not fit into memory."""
    if not unit_ids:
        return
    with engine.connect() as connection:
        connection.register("wanted", pa.table({"unit_id": unit_ids}))
        select = ["wanted.unit_id"]
        join = "wanted"
        for name, table in tables.items():
            columns = [column for column in table.schema.names if column not in _SHARED]
            select += [f"{name}.{column} AS {column}" for column in columns]
            files = [str(path) for path in table.paths()]
            rows = connection.read_parquet(files).filter(f"outcome = '{Outcome.KEPT.value}'")
            rows.create_view(name)
            join += f" JOIN {name} USING (unit_id)"
        query = f"SELECT {', '.join(select)} FROM {join} ORDER BY unit_id"  # noqa: S608 - our names
        for batch in batches(connection, query, rows=BATCH_SIZE):
            yield from batch.to_pylist()


_SHARED = frozenset({"key", "unit_id", "outcome", "reason", "evidence"})


def _names(kernels: list[Row]) -> dict[str, str]:
    return {kernel["name"]: kernel["demangled"] for kernel in kernels}


def _names_of_both(row: Row) -> str:
    sides = ((side, sorted(_names(row[f"{side}_kernels"]).values())) for side in ("cuda", "hip"))
    return "; ".join(f"{side}: {', '.join(names[:8])}" for side, names in sides)


def _texts(files: list[Row]) -> dict[str, str]:
    return {file["path"]: file["text"] for file in files}

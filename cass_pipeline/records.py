"""The schema of every stage's table, and the conversion of its rows to and from typed objects.

Each table holds one row for every row it was given: `outcome`, `reason` and `evidence` say what
became of it, and the columns that the stage adds are null where it was not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from cass_pipeline.outcomes import Verdict
from cass_pipeline.translate.interface import Finding
from cass_pipeline.units import Origin, SourceTree, Unit, UnitTags, digest_of

SCHEMA_VERSION = 1
"""Raised when a column changes its meaning; published with every release."""

Row = dict[str, Any]
"""One row as Python values, keyed by column."""

TEXT = pa.large_string()
FILES = pa.list_(pa.struct([("path", pa.string()), ("text", TEXT)]))
LISTINGS = pa.list_(pa.struct([("arch", pa.string()), ("listing", TEXT)]))
BINARIES = pa.list_(pa.struct([("arch", pa.string()), ("binary", pa.large_binary())]))
KERNELS = pa.list_(
    pa.struct(
        [
            ("arch", pa.string()),
            ("name", pa.string()),
            ("demangled", pa.string()),
            ("registers", pa.int64()),
            ("scalar_registers", pa.int64()),
            ("shared_bytes", pa.int64()),
            ("stack_bytes", pa.int64()),
            ("spilled", pa.int64()),
            ("instructions", pa.int64()),
        ]
    )
)
MATCHES = pa.list_(pa.struct([("cuda", pa.string()), ("hip", pa.string())]))
"""Kernels that both sides have, by their mangled names."""

FINDINGS = pa.list_(
    pa.struct(
        [
            ("path", pa.string()),
            ("line", pa.int64()),
            ("rule", pa.string()),
            ("severity", pa.string()),
            ("message", pa.string()),
        ]
    )
)
VERIFICATION = pa.struct(
    [
        ("level", pa.string()),
        ("cuda_device", pa.string()),
        ("hip_device", pa.string()),
        ("seeds", pa.list_(pa.int64())),
        ("inputs", TEXT),
        ("tolerance", pa.float64()),
        ("max_abs_error", pa.float64()),
        ("max_rel_error", pa.float64()),
        ("cuda_instructions", pa.int64()),
        ("hip_instructions", pa.int64()),
        ("deterministic", pa.bool_()),
    ]
)

BASE = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("unit_id", pa.string(), nullable=False),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("reason", pa.string()),
        pa.field("evidence", pa.string()),
    ]
)
"""Columns of every table. `key` addresses the work: its input, settings and fingerprints."""

ORIGIN = pa.schema(
    [
        pa.field("origin_id", pa.string(), nullable=False),
        ("source", pa.string()),
        ("source_name", pa.string()),
        ("source_revision", pa.string()),
        ("source_path", pa.string()),
        ("licence", pa.string()),
        ("licence_evidence", pa.list_(pa.string())),
    ]
)

SOURCE_FILES = pa.list_(pa.struct([("path", pa.string()), ("hashes", pa.list_(pa.string()))]))
"""The files of a unit as they were found: paths in the source, SHA-1 sums (plain, git's)."""

UNIT = pa.schema(
    [
        ("source_files", SOURCE_FILES),
        ("files", FILES),
        ("main_path", pa.string()),
        ("include_dirs", pa.list_(pa.string())),
        ("kernel_count", pa.int64()),
        ("code_lines", pa.int64()),
        ("generated", pa.bool_()),
        ("has_main", pa.bool_()),
        ("unresolved_includes", pa.list_(pa.string())),
    ]
)


def _schema(*parts: pa.Schema | Iterable[tuple[str, pa.DataType]]) -> pa.Schema:
    return pa.schema([field for part in parts for field in pa.schema(part)])


COLLECTED = _schema(BASE, ORIGIN, UNIT)
"""`local_kernels` and its like, one for each kind of source, and `raw_kernels`."""

HIP_KERNELS = _schema(
    BASE,
    [
        ("hip_id", pa.string()),
        ("hip_files", FILES),
        ("hip_main_path", pa.string()),
        ("hip_include_dirs", pa.list_(pa.string())),
        ("translator", pa.string()),
        ("findings", FINDINGS),
    ],
)

CUDA_OBJECTS = _schema(
    BASE,
    [
        ("sass", LISTINGS),
        ("cubins", BINARIES),
        ("ptx", TEXT),
        ("cuda_host_asm", TEXT),
        ("cuda_kernels", KERNELS),
        ("cuda_toolchain", pa.string()),
        ("cuda_flags", pa.list_(pa.string())),
        ("cuda_optimisation", pa.string()),
    ],
)

HIP_OBJECTS = _schema(
    BASE,
    [
        ("rdna3", LISTINGS),
        ("code_objects", BINARIES),
        ("hip_host_asm", TEXT),
        ("hip_kernels", KERNELS),
        ("hip_toolchain", pa.string()),
        ("hip_flags", pa.list_(pa.string())),
        ("hip_optimisation", pa.string()),
    ],
)

EXECUTIONS = _schema(
    BASE,
    [("cuda_key", pa.string()), ("hip_key", pa.string())],
    [
        ("verification", VERIFICATION),
    ],
)

PAIR = _schema(
    [("pair_id", pa.string()), ("domain", pa.string())],
    [field for field in ORIGIN if field.name != "origin_id"],
    [
        ("cuda_source", TEXT),
        ("hip_source", TEXT),
        ("cuda_files", FILES),
        ("cuda_main_path", pa.string()),
        ("hip_files", FILES),
        ("hip_main_path", pa.string()),
        ("include_dirs", pa.list_(pa.string())),
        ("sass", LISTINGS),
        ("rdna3", LISTINGS),
        ("ptx", TEXT),
        ("cuda_host_asm", TEXT),
        ("hip_host_asm", TEXT),
        ("cuda_kernels", KERNELS),
        ("hip_kernels", KERNELS),
        ("kernels", MATCHES),
        ("translator", pa.string()),
        ("findings", FINDINGS),
        ("cuda_toolchain", pa.string()),
        ("hip_toolchain", pa.string()),
        ("cuda_flags", pa.list_(pa.string())),
        ("hip_flags", pa.list_(pa.string())),
        ("optimisation", pa.string()),
        ("verification", VERIFICATION),
        ("code_tokens", pa.int64()),
    ],
)

VERIFIED_PAIRS = _schema(BASE, PAIR)
DISTINCT_PAIRS = _schema(BASE, [("pair_id", pa.string()), ("cluster_id", pa.string())])
CORPUS = DISTINCT_PAIRS
"""`corpus`: what became of each distinct pair; the pairs themselves are the release's files."""

PUBLISHED_PAIRS = _schema(
    [("pair_id", pa.string()), ("unit_id", pa.string())],
    [field for field in PAIR if field.name != "pair_id"],
    [("cluster_id", pa.string())],
)
"""The unit-level configuration of a release."""

KERNEL_RESOURCES = pa.struct(
    [field for field in KERNELS.value_type if field.name not in {"arch", "name", "demangled"}]
)
PUBLISHED_KERNELS = pa.schema(
    [
        ("pair_id", pa.string()),
        ("unit_id", pa.string()),
        ("kernel", pa.string()),
        ("hip_kernel", pa.string()),
        ("demangled", pa.string()),
        ("sm_arch", pa.string()),
        ("gfx_arch", pa.string()),
        ("sass", TEXT),
        ("rdna3", TEXT),
        ("cuda_resources", KERNEL_RESOURCES),
        ("hip_resources", KERNEL_RESOURCES),
        ("licence", pa.string()),
        ("verification_level", pa.string()),
        ("cluster_id", pa.string()),
    ]
)
"""The kernel-level configuration of a release."""

RECORD = _schema(
    [
        ("record_id", pa.string()),
        ("pair_id", pa.string()),
        ("cluster_id", pa.string()),
        ("direction", pa.string()),
        ("kernel", pa.string()),
        ("sm_arch", pa.string()),
        ("gfx_arch", pa.string()),
        ("domain", pa.string()),
        ("licence", pa.string()),
        ("verification_level", pa.string()),
    ]
)
_SPLIT = [("split", pa.string()), ("prompt_tokens", pa.int64()), ("answer_tokens", pa.int64())]

TRAINING_SET = _schema(BASE, RECORD, _SPLIT)
"""`training_set`: what became of each record; the texts are in its folder's files."""

TRAINING_RECORDS = _schema(
    RECORD,
    _SPLIT,
    [("unit_id", pa.string()), ("instruction", TEXT), ("source", TEXT), ("target", TEXT)],
)
"""The kept records of a training set, with their texts."""

EVALUATION = _schema(
    BASE,
    RECORD,
    [
        ("system", pa.string()),
        ("checked", pa.string()),
        ("passed", pa.bool_()),
        ("exact", pa.bool_()),
        ("bleu", pa.float64()),
        ("chrf", pa.float64()),
        ("answer", TEXT),
    ],
)
"""`evaluation`: a row for each held-out record and each system that translated it."""

OPT_OUTS = _schema(
    BASE,
    [
        pa.field("origin_id", pa.string(), nullable=False),
        pa.field("entry_id", pa.string(), nullable=False),
        ("kind", pa.string()),
        ("date", pa.date32()),
    ],
)
"""`opt_outs`: the tombstone of every unit that was taken out on request; ids and days only."""

CONTENT = frozenset(UNIT.names) - {"source_files"}
"""Columns of `COLLECTED` that go when a unit is taken out; what names it stays."""

FATES = _schema(
    BASE,
    ORIGIN,
    [("last_stage", pa.string())],
)
"""`stage_ledger`: one row for every collected file, and the last stage that it reached."""


def verdict_columns(verdict: Verdict) -> Row:
    """`outcome`, `reason` and `evidence` of a row."""
    return {
        "outcome": verdict.outcome.value,
        "reason": None if verdict.reason is None else verdict.reason.value,
        "evidence": verdict.evidence or None,
    }


def origin_columns(origin: Origin) -> Row:
    """Columns of `ORIGIN`."""
    return {
        "origin_id": origin.origin_id,
        "source": origin.source,
        "source_name": origin.name,
        "source_revision": origin.revision,
        "source_path": origin.path,
        "licence": origin.licence,
        "licence_evidence": list(origin.licence_evidence),
    }


def collected_row(key: str, origin: Origin, verdict: Verdict, unit: Unit | None) -> Row:
    """A row of `COLLECTED`; a file without a unit is known by its origin alone."""
    row = {
        "key": key,
        "unit_id": unit.unit_id if unit else digest_of("origin", origin.origin_id),
        **verdict_columns(verdict),
        **origin_columns(origin),
    }
    if unit is not None:
        row |= {
            "source_files": [
                {"path": file.path, "hashes": list(file.hashes)} for file in unit.sources
            ],
            "files": files_column(unit.tree.files),
            "main_path": unit.tree.main_path,
            "include_dirs": list(unit.tree.include_dirs),
            "kernel_count": unit.tags.kernels,
            "code_lines": unit.tags.code_lines,
            "generated": unit.tags.generated,
            "has_main": unit.tags.has_main,
            "unresolved_includes": list(unit.tags.unresolved_includes),
        }
    return row


def files_column(files: Mapping[str, str]) -> list[Row]:
    """Files as the `FILES` column holds them, in the order of their paths."""
    return [{"path": path, "text": files[path]} for path in sorted(files)]


def origin_of(row: Row) -> Origin:
    """The origin of a row of `COLLECTED`."""
    return Origin(
        source=row["source"],
        name=row["source_name"],
        revision=row["source_revision"],
        path=row["source_path"],
        licence=row["licence"],
        licence_evidence=tuple(row["licence_evidence"] or ()),
    )


def tags_of(row: Row) -> UnitTags:
    """The tags of a kept row of `COLLECTED`."""
    return UnitTags(
        kernels=row["kernel_count"],
        code_lines=row["code_lines"],
        generated=row["generated"],
        has_main=row["has_main"],
        unresolved_includes=tuple(row["unresolved_includes"]),
    )


def cuda_tree_of(row: Row) -> SourceTree:
    """The CUDA files of a kept row of `COLLECTED`."""
    return _tree(row["files"], row["main_path"], row["include_dirs"])


def hip_tree_of(row: Row) -> SourceTree:
    """The HIP files of a kept row of `HIP_KERNELS`."""
    return _tree(row["hip_files"], row["hip_main_path"], row["hip_include_dirs"])


def findings_column(findings: Iterable[Finding]) -> list[Row]:
    """Findings as the `FINDINGS` column holds them."""
    return [
        {
            "path": finding.path,
            "line": finding.line,
            "rule": finding.rule,
            "severity": finding.severity.value,
            "message": finding.message,
        }
        for finding in findings
    ]


def _tree(files: list[Row], main_path: str, include_dirs: list[str]) -> SourceTree:
    return SourceTree(
        files={file["path"]: file["text"] for file in files},
        main_path=main_path,
        include_dirs=tuple(include_dirs),
    )

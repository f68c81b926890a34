"""What a release says about its own content, read from its unit-level pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cass_pipeline.corpus.engine import Engine
from cass_pipeline.corpus.levels import LEVELS

_ORIGINS = """
    SELECT source, source_name, source_revision, coalesce(licence, ''),
           list(DISTINCT source_path ORDER BY source_path)
    FROM pairs GROUP BY ALL ORDER BY ALL
"""
_LICENCES = """
    SELECT coalesce(licence, ''), count(*), count(DISTINCT (source, source_name))
    FROM pairs GROUP BY ALL ORDER BY ALL
"""
_TOOLCHAINS = """
    SELECT DISTINCT unnest([
        ('NVIDIA', cuda_toolchain, list_aggregate(cuda_flags, 'string_agg', ' ')),
        ('AMD', hip_toolchain, list_aggregate(hip_flags, 'string_agg', ' ')),
        ('translator', translator, '')])
    FROM pairs ORDER BY ALL
"""


@dataclass(frozen=True)
class SourceUse:
    """One source's part in the corpus, to be attributed."""

    source: str
    name: str
    revision: str
    licence: str
    paths: tuple[str, ...]
    """Main files that were used, sorted."""


@dataclass(frozen=True)
class LicenceUse:
    """What stands under one licence expression."""

    licence: str
    pairs: int
    sources: int


@dataclass(frozen=True)
class ToolUse:
    """One toolchain or translator that made a part of the corpus."""

    role: str
    """`NVIDIA`, `AMD` or `translator`."""
    fingerprint: str
    flags: str


@dataclass(frozen=True)
class Facts:
    """Everything the card and the notices count."""

    levels: dict[str, int]
    """Pairs by verification level, every level named, weakest first."""
    domains: dict[str, int]
    """Pairs by domain, most frequent first."""
    sources: tuple[SourceUse, ...]
    licences: tuple[LicenceUse, ...]
    tools: tuple[ToolUse, ...]


def read_facts(paths: Sequence[Path], engine: Engine) -> Facts:
    """Counts the unit-level pairs of some Parquet files."""
    with engine.connect() as connection:
        connection.read_parquet([str(path) for path in paths]).create_view("pairs")

        def rows(query: str) -> list[Any]:
            return connection.execute(query).fetchall()

        levels = dict(rows("SELECT verification.level, count(*) FROM pairs GROUP BY ALL"))
        return Facts(
            levels={level: levels.get(level, 0) for level in LEVELS},
            domains=dict(
                rows(
                    "SELECT domain, count(*) AS pairs FROM pairs WHERE domain IS NOT NULL "
                    "GROUP BY domain ORDER BY pairs DESC, domain"
                )
            ),
            sources=tuple(
                SourceUse(source, name, revision, licence, tuple(paths))
                for source, name, revision, licence, paths in rows(_ORIGINS)
            ),
            licences=tuple(LicenceUse(*row) for row in rows(_LICENCES)),
            tools=tuple(ToolUse(*row[0]) for row in rows(_TOOLCHAINS)),
        )

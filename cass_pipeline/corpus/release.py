"""`corpus`: the folder that is published, built whole and then put in place at once.

What is built depends on the rows and the settings alone: the same input gives the same bytes, so
a release can be checked by building it again. The version ends in a hash of it. The date and the
changelog come when it is published, see `edition`.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from cass_pipeline.corpus.card import (
    CardInputs,
    Config,
    FunnelStage,
    dataset_card,
    dated,
    described,
)
from cass_pipeline.corpus.columns import KERNEL_COLUMNS, PAIR_COLUMNS
from cass_pipeline.corpus.engine import Engine
from cass_pipeline.corpus.facts import read_facts
from cass_pipeline.corpus.notices import licences, notice
from cass_pipeline.corpus.pair_index import INDEX, write_index
from cass_pipeline.corpus.shards import Shards, ShardSettings, Table, write_shards
from cass_pipeline.corpus.suites import Suite
from cass_pipeline.errors import StoreError

MANIFEST = "manifest.json"
CARD = "README.md"


@dataclass(frozen=True)
class ReleaseSettings:
    """What a release is called and how it is cut."""

    title: str
    """Name of the dataset, for people."""
    schema_version: int
    """Version of the meaning of the columns."""
    base_version: str = "0.1.0"
    """Chosen by people; the release's version is `v<base>+<hash>`."""
    homepage: str = ""
    """Address that the citation names, or empty."""
    shards: ShardSettings = field(default_factory=ShardSettings)


@dataclass(frozen=True)
class Edition:
    """What a release is called once it has a date."""

    tag: str
    """`v2026.12.05`."""
    date: str
    """ISO 8601."""


@dataclass(frozen=True)
class Release:
    """A release folder and what its manifest says."""

    folder: Path
    version: str
    rows: dict[str, int]
    """Rows by configuration."""
    files: dict[str, str]
    """SHA-256 (hexadecimal) by path in the folder; the manifest itself is not among them."""
    content: str = ""
    """SHA-256 (hexadecimal) over everything that was built, the card excepted."""
    edition: Edition | None = None
    """Its date and tag; None before it has any."""


def pairs_table(paths: Sequence[Path]) -> Table:
    """The unit-level configuration, `pairs`."""
    return Table("pairs", paths, ("pair_id",), PAIR_COLUMNS, "one translation unit in CUDA and HIP")


def kernels_table(paths: Sequence[Path]) -> Table:
    """The kernel-level configuration, `kernels`."""
    keys = ("pair_id", "kernel", "sm_arch", "gfx_arch")
    row = "one kernel of a pair in SASS and RDNA3, for one NVIDIA and one AMD target"
    return Table("kernels", paths, keys, KERNEL_COLUMNS, row)


def build_release(
    folder: Path,
    pairs: Sequence[Path],
    kernels: Sequence[Path],
    settings: ReleaseSettings,
    engine: Engine,
    funnel: Sequence[FunnelStage] = (),
    suites: Sequence[Suite] = (),
) -> Release:
    """Builds the release beside `folder` and then puts it in the place of what was there.

    Args:
        folder: the release folder; an older release in it is replaced as a whole.
        pairs: Parquet files of the unit-level pairs to publish, none of them a reject.
        kernels: Parquet files of their kernels.
        settings: names and sizes.
        engine: limits of sorting and counting.
        funnel: rows by stage for the card, in the order of the stages.
        suites: what was validated, for the card.

    Raises:
        InputError: a table has no file, an undescribed column, or two rows of one key.
        StoreError: files cannot be read or written.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    building = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        tables = (pairs_table(pairs), kernels_table(kernels))
        release = _fill(building, tables, settings, engine, funnel, suites)
        _replace(folder, building)
    except OSError as error:
        raise StoreError(f"the release cannot be written to {folder}: {error}") from error
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return replace(release, folder=folder)


def read_release(folder: Path) -> Release:
    """What the manifest of a release folder says.

    Raises:
        StoreError: there is no manifest, or it cannot be read.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return Release(
            folder=folder,
            version=manifest["version"],
            rows={name: config["rows"] for name, config in manifest["configs"].items()},
            files={file["path"]: file["sha256"] for file in manifest["files"]},
            content=manifest["content"],
            edition=Edition(**manifest["edition"]) if manifest["edition"] else None,
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{folder} is not a release folder: {error}") from error


def verify_release(release: Release) -> None:
    """Compares every file of a release folder with its manifest.

    Raises:
        StoreError: a file is missing or differs.
    """
    found = _digests(release.folder)
    wrong = [path for path, digest in release.files.items() if found.get(path) != digest]
    if wrong:
        raise StoreError(
            f"{release.folder} differs from its manifest in {wrong[0]} and {len(wrong) - 1} more: "
            "build the release again"
        )


def stamp(folder: Path, edition: Edition, texts: Mapping[str, str]) -> None:
    """Dates a release folder: writes the texts of an edition, the card's line and the manifest.

    A release that has a date gets another one. A killed run leaves a folder that
    `verify_release` refuses; the manifest is the last to be written.

    Raises:
        StoreError: the folder is no release, or the disk refuses.
    """
    read_release(folder)
    try:
        for name, text in texts.items():
            _write(folder / name, text)
        card = (folder / CARD).read_text(encoding="utf-8")
        _write(folder / CARD, dated(card, edition.tag, date.fromisoformat(edition.date)))
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        (folder / MANIFEST).unlink()
        manifest["edition"] = asdict(edition)
        manifest["files"] = _file_entries(folder, _digests(folder))
        _write_manifest(folder, manifest)
    except OSError as error:
        raise StoreError(f"the release in {folder} cannot be dated: {error}") from error


def _fill(
    folder: Path,
    tables: Sequence[Table],
    settings: ReleaseSettings,
    engine: Engine,
    funnel: Sequence[FunnelStage],
    suites: Sequence[Suite],
) -> Release:
    """Writes every file of the release; the manifest last."""
    shards = {
        table.name: write_shards(
            table, folder / "data" / table.name, settings.shards, engine.temp_directory
        )
        for table in tables
    }
    facts = read_facts(tables[0].paths, engine)
    write_index(folder / INDEX, tables[0].paths, engine)
    _write(folder / "NOTICE", notice(settings.title, facts))
    _write(folder / "LICENSES", licences(facts))
    content = _digest_of_all(_digests(folder))
    version = f"v{settings.base_version}+{content[:8]}"
    card = CardInputs(
        title=settings.title,
        version=version,
        schema_version=settings.schema_version,
        homepage=settings.homepage,
        configs=tuple(_config(table, shards[table.name], table is tables[0]) for table in tables),
        facts=facts,
        funnel=funnel,
        suites=suites,
    )
    _write(folder / CARD, dataset_card(card))
    rows = {name: made.rows for name, made in shards.items()}
    release = Release(folder, version, rows, _digests(folder), content)
    _write_manifest(folder, _manifest(release, card))
    return release


def _config(table: Table, shards: Shards, default: bool) -> Config:
    columns = described(shards.schema, table.columns)
    return Config(table.name, table.row, shards.rows, len(shards.paths), columns, default)


def _manifest(release: Release, card: CardInputs) -> dict[str, Any]:
    return {
        "title": card.title,
        "version": release.version,
        "schema_version": card.schema_version,
        "content": release.content,
        "edition": None,
        "configs": {
            config.name: {
                "rows": config.rows,
                "columns": {column.name: column.type for column in config.columns},
            }
            for config in card.configs
        },
        "files": _file_entries(release.folder, release.files),
    }


def _file_entries(folder: Path, digests: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {"path": path, "bytes": (folder / path).stat().st_size, "sha256": digest}
        for path, digest in digests.items()
    ]


def _write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    _write(folder / MANIFEST, json.dumps(manifest, indent=2) + "\n")


def _digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of a folder, by relative path, sorted."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        found[path.relative_to(folder).as_posix()] = digest
    return found


def _digest_of_all(digests: dict[str, str]) -> str:
    lines = (f"{digest}  {path}\n" for path, digest in digests.items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _replace(folder: Path, built: Path) -> None:
    """Two renames: a reader finds the old release or the new one, or for an instant none."""
    built.chmod(0o755)  # temporary folders are private
    old = folder.with_name(f"{built.name}-old")
    with suppress(FileNotFoundError):
        folder.rename(old)
    built.rename(folder)
    shutil.rmtree(old, ignore_errors=True)

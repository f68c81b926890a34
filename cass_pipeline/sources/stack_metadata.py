"""Which files a dataset in the form of The Stack v2 lists, repository by repository.

The metadata is streamed, and what it says of the wanted repositories is kept in a folder, one
Parquet file for each of the dataset's: a run that was stopped goes on there, and a revision of the
dataset that is known is not read again.
"""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cass_pipeline.corpus.engine import Engine, batches
from cass_pipeline.errors import ConfigurationError, InfrastructureError
from cass_pipeline.sources.config import StackSpec
from cass_pipeline.sources.paths import problem_with
from cass_pipeline.stage import Log
from cass_pipeline.units import digest_of

SCHEMA = pa.schema(
    [
        ("blob_id", pa.string()),
        ("path", pa.string()),
        ("repo_name", pa.string()),
        ("license_type", pa.string()),
        ("detected_licenses", pa.list_(pa.string())),
        ("length_bytes", pa.int64()),
        ("content_id", pa.string()),
        ("revision_id", pa.string()),
        ("src_encoding", pa.string()),
        ("is_generated", pa.bool_()),
    ]
)
"""What is read of a dataset's columns; see its card."""
_OPTIONAL = frozenset({"content_id", "revision_id", "src_encoding", "is_generated"})
_ROWS = 10_000
_BY_REPOSITORY = """
    SELECT * FROM read_parquet($files) WHERE repo_name IN (SELECT name FROM wanted)
    ORDER BY repo_name, path, revision_id DESC NULLS LAST, blob_id
"""


@dataclass(frozen=True)
class StackFile:
    """One file of a repository as the dataset lists it."""

    path: str
    blob_id: str
    content_id: str
    revision: str
    licence_type: str
    """`permissive` or `no_license`."""
    licences: tuple[str, ...]
    """SPDX names that were detected for it."""
    encoding: str | None
    size: int
    """Bytes."""
    generated: bool

    @property
    def hashes(self) -> tuple[str, ...]:
        """The SHA-1 sums that it is known by."""
        return tuple(name for name in (self.blob_id, self.content_id) if name)


@dataclass(frozen=True)
class StackRepository:
    """A repository's files, and which of them are candidates."""

    name: str
    """Its address; the dataset lists repositories of GitHub, as `owner/name`."""
    files: tuple[StackFile, ...]
    wanted: frozenset[str]
    """Paths of the `.cu` files to take."""
    unusable: Mapping[str, str]
    """Wanted paths that no file can have, and why."""


class StackMetadata:
    """What one revision of a dataset says."""

    def __init__(self, spec: StackSpec, folder: Path, token: str | None, log: Log) -> None:
        """See `stack_metadata`; `spec` names one commit, to which `folder` belongs."""
        self._spec = spec
        self._folder = folder
        self._token = token
        self._log = log
        self._files: list[Path] = []
        self._wanted: dict[str, set[str]] = {}

    def read(self) -> None:
        """Reads all that is not known yet.

        Raises:
            ConfigurationError: there is no such dataset or configuration, or it is not in the form
                of The Stack v2, or its terms have to be accepted first.
            InfrastructureError: it cannot be read now.
        """
        self._files, self._wanted = [], defaultdict(set)
        left = self._spec.max_files
        for config in self._spec.configs:
            for file in self._parts(config, None):
                self._files.append(file)
                left = self._choose(file, left)
                if left == 0:
                    break
            if left == 0:
                break
        if self._wanted:
            for config in self._spec.header_configs:
                self._files += self._parts(config, frozenset(self._wanted))

    def repositories(self, engine: Engine) -> Iterator[StackRepository]:
        """The repositories that have a wanted file, by name; `read` comes first.

        Of several rows for one path (a repository at several revisions) the last one by revision
        counts, which is arbitrary but always the same.
        """
        if not self._wanted:
            return
        with engine.connect() as connection:
            connection.register("wanted", pa.table({"name": sorted(self._wanted)}))
            files = {"files": [str(file) for file in self._files]}
            rows = (
                row
                for batch in batches(connection, _BY_REPOSITORY, files)
                for row in batch.to_pylist()
            )
            for name, group in groupby(rows, itemgetter("repo_name")):
                yield _repository(name, group, self._wanted[name])

    def _choose(self, file: Path, left: int | None) -> int | None:
        """Notes the wanted files of one part; returns how many more may be taken."""
        columns = pq.read_table(file, columns=["repo_name", "path"])
        for batch in columns.to_batches():
            for name, path in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                path = path.lstrip("/")
                if not self._spec.paths.takes(path) or path in self._wanted.get(name, ()):
                    continue
                if left == 0:
                    return 0
                self._wanted[name].add(path)
                left = None if left is None else left - 1
        return left

    def _parts(self, config: str, names: frozenset[str] | None) -> Iterator[Path]:
        """The kept part of each of the dataset's files; `names` are the wanted repositories."""
        which = "" if names is None else digest_of(*sorted(names))[:16]
        folder = self._folder / digest_of(config, self._spec.split, which)[:32]
        count = _known_count(folder)
        dataset = None
        if count is None or any(not _part(folder, n, count).exists() for n in range(count)):
            dataset = _streamed(self._spec, config, self._token)
            count = dataset.num_shards
        for number in range(count or 0):
            place = _part(folder, number, count or 0)
            if not place.exists():
                self._log(
                    f"stack_kernels: reading the metadata of {config}, part {number + 1} of {count}"
                )
                with _named_errors(self._spec, config):
                    _keep(dataset, number, place, names, self._spec)
            yield place


def stack_metadata(spec: StackSpec, cache: Path, token: str | None, log: Log) -> StackMetadata:
    """The dataset at the newest commit of its revision, or a folder as it is now.

    Args:
        spec: what is asked for.
        cache: a folder of this function's own.
        token: for the Hub; None is the client's own.
        log: told about progress.

    Raises:
        ConfigurationError: see `StackMetadata.read`.
        InfrastructureError: the Hub cannot be asked now.
    """
    revision = _revision(spec, token)
    folder = cache / digest_of(spec.dataset)[:32] / revision[:40]
    return StackMetadata(replace(spec, revision=revision), folder, token, log)


def _revision(spec: StackSpec, token: str | None) -> str:
    folder = Path(spec.dataset)
    if folder.is_dir():
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        facts = ((path.relative_to(folder).as_posix(), path.stat()) for path in files)
        return digest_of(*(f"{name} {s.st_size} {s.st_mtime_ns}" for name, s in facts))
    from huggingface_hub import HfApi

    with _named_errors(spec):
        return str(HfApi(token=token).dataset_info(spec.dataset, revision=spec.revision).sha)


def _streamed(spec: StackSpec, config: str, token: str | None) -> Any:
    import datasets

    where = {"data_files": f"{config}/*"} if "/" in config else {"name": config}
    local = Path(spec.dataset).is_dir()
    with _named_errors(spec, config):
        return datasets.load_dataset(
            str(Path(spec.dataset).resolve()) if local else spec.dataset,
            split=spec.split,
            streaming=True,
            **where,
            **({} if local else {"revision": spec.revision, "token": token}),
        )


@contextmanager
def _named_errors(spec: StackSpec, config: str = "") -> Iterator[None]:
    """Names the libraries' errors by what the caller should do next."""
    import httpx2
    from datasets.exceptions import DataFilesNotFoundError, DatasetNotFoundError
    from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError

    name = f"{spec.dataset}, {config}" if config else spec.dataset
    try:
        yield
    except (DatasetNotFoundError, RepositoryNotFoundError) as error:
        raise ConfigurationError(
            f"{name}: there is no such dataset, or it may not be read: log in to the Hub, accept "
            f"the dataset's terms on its page, and set HF_TOKEN ({_first_line(error)})"
        ) from error
    except HfHubHTTPError as error:
        status = error.response.status_code
        if status in {401, 403, 404}:
            raise ConfigurationError(
                f"{name} at {spec.revision}: the Hub refuses ({_first_line(error)}); check the "
                "token, the terms on the dataset's page and the revision"
            ) from error
        raise InfrastructureError(f"{name}: the Hub failed: {_first_line(error)}") from error
    except (DataFilesNotFoundError, ValueError) as error:
        raise ConfigurationError(
            f"{name}: cannot be read as asked: {_first_line(error)}"
        ) from error
    except (OSError, httpx2.HTTPError) as error:
        raise InfrastructureError(f"{name}: cannot be read now: {_first_line(error)}") from error


def _keep(
    dataset: Any, number: int, place: Path, names: frozenset[str] | None, spec: StackSpec
) -> None:
    """Writes what is needed of one of the dataset's files; whole, or not at all."""
    place.parent.mkdir(parents=True, exist_ok=True)
    part = dataset.shard(num_shards=dataset.num_shards, index=number).with_format("arrow")
    handle, unfinished = tempfile.mkstemp(prefix="unfinished-", dir=place.parent)
    os.close(handle)
    try:
        with pq.ParquetWriter(unfinished, SCHEMA, compression="zstd") as writer:
            for table in part.iter(batch_size=_ROWS):
                writer.write_table(_wanted_rows(table, names, spec))
        os.replace(unfinished, place)
    finally:
        Path(unfinished).unlink(missing_ok=True)


def _wanted_rows(table: pa.Table, names: frozenset[str] | None, spec: StackSpec) -> pa.Table:
    missing = [n for n in SCHEMA.names if n not in table.column_names and n not in _OPTIONAL]
    if missing:
        raise ConfigurationError(
            f"{spec.dataset} is not in the form of The Stack v2: it has no column {missing[0]}"
        )
    for name in _OPTIONAL.difference(table.column_names):
        table = table.append_column(name, pa.nulls(table.num_rows, SCHEMA.field(name).type))
    table = table.select(SCHEMA.names).cast(SCHEMA)
    complete = pc.and_(pc.is_valid(table["path"]), pc.is_valid(table["repo_name"]))
    table = table.filter(pc.and_(complete, pc.is_valid(table["blob_id"])))
    if names is None:
        return table
    return table.filter(pc.is_in(table["repo_name"], pa.array(sorted(names), pa.string())))


def _repository(name: str, rows: Iterator[dict[str, Any]], wanted: set[str]) -> StackRepository:
    files: dict[str, StackFile] = {}
    unusable: dict[str, str] = {}
    for row in rows:
        file = _file(row)
        if problem := problem_with(file.path):
            if file.path in wanted:
                unusable[file.path] = problem
        else:
            files.setdefault(file.path, file)
    return StackRepository(
        f"https://github.com/{name}", tuple(files.values()), frozenset(wanted), unusable
    )


def _file(row: dict[str, Any]) -> StackFile:
    return StackFile(
        path=row["path"].lstrip("/"),
        blob_id=row["blob_id"],
        content_id=row["content_id"] or "",
        revision=row["revision_id"] or "",
        licence_type=row["license_type"] or "",
        licences=tuple(row["detected_licenses"] or ()),
        encoding=row["src_encoding"],
        size=row["length_bytes"] or 0,
        generated=bool(row["is_generated"]),
    )


def _part(folder: Path, number: int, count: int) -> Path:
    return folder / f"{number:05}-of-{count:05}.parquet"


def _known_count(folder: Path) -> int | None:
    """Of how many files the kept parts say that there are."""
    names = sorted(path.stem for path in folder.glob("*-of-*.parquet"))
    return int(names[0].rpartition("-")[2]) if names else None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]

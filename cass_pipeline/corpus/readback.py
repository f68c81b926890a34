"""Checks that a revision on the Hub is what was released, by what the Hub says and serves."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cass_pipeline.corpus.release import MANIFEST, Release
from cass_pipeline.errors import InfrastructureError

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_DATA = "data/"


@dataclass(frozen=True)
class RemoteFile:
    """A file of a revision as the Hub's listing names it."""

    size: int
    digest: str
    """SHA-256 of a large file, git's blob id of any other."""
    large: bool


def list_files(api: HfApi, repository: str, revision: str) -> dict[str, RemoteFile]:
    """Every file of a revision, by path."""
    from huggingface_hub.hf_api import RepoFile

    return {
        item.path: RemoteFile(
            item.size, item.lfs.sha256 if item.lfs else item.blob_id, item.lfs is not None
        )
        for item in api.list_repo_tree(
            repository, recursive=True, revision=revision, repo_type="dataset"
        )
        if isinstance(item, RepoFile)
    }


def check_revision(
    api: HfApi,
    repository: str,
    revision: str,
    release: Release,
    others: Mapping[str, RemoteFile],
) -> None:
    """Compares a revision with a release folder.

    Every file must have the size and the hash of ours, data files must give the rows of the
    manifest when they are read from the Hub, and nothing else may be there but `others`, the
    files that people added to main.

    Raises:
        InfrastructureError: the revision is something else; nothing may be merged from it.
    """
    found = list_files(api, repository, revision)
    wrong = differences(found, release, others)
    if wrong:
        raise InfrastructureError(
            f"{repository} at {revision} is not what was released: {'; '.join(wrong[:5])}"
            f"{f' and {len(wrong) - 5} more' if len(wrong) > 5 else ''}. It was not merged or "
            "tagged; run it again, and if it stays so, look who else writes to the repository"
        )
    for config, rows in release.rows.items():
        counted = _served_rows(api, repository, revision, f"{_DATA}{config}/", found)
        if counted != rows:
            raise InfrastructureError(
                f"{repository} at {revision} serves {counted} rows of {config!r}, not {rows}: "
                "it was not merged or tagged; run it again"
            )


def differences(
    found: Mapping[str, RemoteFile], release: Release, others: Mapping[str, RemoteFile]
) -> list[str]:
    """Everything in which a revision differs from a release, as short texts."""
    wrong = []
    ours = release_files(release)
    for path in ours:
        remote = found.get(path)
        if remote is None:
            wrong.append(f"{path} is missing")
        elif remote != _described(release.folder / path, remote.large):
            wrong.append(f"{path} differs")
    for path in sorted(set(found) - set(ours)):
        if is_replaced(path):
            wrong.append(f"{path} is of an older release")
        elif others.get(path) != found[path]:
            wrong.append(f"{path} is from somebody else")
    return wrong


def release_files(release: Release) -> Collection[str]:
    """Paths of everything that is uploaded."""
    return [*release.files, MANIFEST]


def is_replaced(path: str) -> bool:
    """Whether a release takes a file away that it does not hold itself."""
    return path.startswith(_DATA)


def _described(path: Path, large: bool) -> RemoteFile:
    size = path.stat().st_size
    if large:
        with path.open("rb") as stream:
            return RemoteFile(size, hashlib.file_digest(stream, "sha256").hexdigest(), large)
    blob = b"blob %d\0" % size + path.read_bytes()
    return RemoteFile(size, hashlib.sha1(blob, usedforsecurity=False).hexdigest(), large)


def _served_rows(
    api: HfApi, repository: str, revision: str, prefix: str, found: Collection[str]
) -> int:
    """Rows of the Parquet files below a folder, from the ends of the files that the Hub serves."""
    import pyarrow.parquet as pq
    from huggingface_hub import HfFileSystem

    files = HfFileSystem(endpoint=api.endpoint, token=api.token, skip_instance_cache=True)
    rows = 0
    for path in sorted(path for path in found if path.startswith(prefix)):
        address = f"datasets/{repository}/{path}"
        with files.open(address, "rb", revision=revision, block_size=1 << 20) as stream:
            rows += pq.ParquetFile(stream).metadata.num_rows
    return rows

"""Read the YAML file that lists repositories, packages and a dataset of hashes.

repositories:
  - url: https://host/owner/name.git
    revision: v1.2            # branch, tag or full commit hash
    include: ["*.cu"]         # optional globs, see `PathFilter`
    exclude: ["third_party/*"]
    licence: MIT              # optional SPDX expression that replaces what is found
packages:
  - name: some-package
    version: "1.2.3"          # optional; the newest without it
    include: ["*.cu"]
stack:
  dataset: bigcode/the-stack-v2   # or a local folder in the same form
  configs: [Cuda]                 # where .cu files are listed; "data/Cuda" is a folder of it
  header_configs: [C, C++]        # optional: where else the headers are
  revision: main                  # optional, as are all that follow
  split: train
  include: ["*.cu"]
  exclude: []
  max_files: 500                  # the first so many .cu files
  contents: s3://softwareheritage/content   # or a folder of gzip files
  endpoint: ""                    # of another S3 server
  region: us-east-1
  signed: false                   # with credentials?
  workers: 16                     # files fetched at the same time
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from cass_pipeline.errors import ConfigurationError
from cass_pipeline.sources.bucket import BucketSettings
from cass_pipeline.sources.settings import PathFilter
from cass_pipeline.sources.spdx import normalised

SCHEMES = ("file", "git", "http", "https", "ssh")
_REVISION = re.compile(r"(?!-)(?!.*(?:\.\.|@\{|//))[^\s~^:?*\[\\\x00-\x1f\x7f]{1,200}")
_PACKAGE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
_STACK_KEYS = frozenset(
    (
        *("dataset", "configs", "header_configs", "revision", "split", "include", "exclude"),
        *("max_files", "contents", "endpoint", "region", "signed", "workers"),
    )
)
_SHARED_KEYS = frozenset(("include", "exclude", "licence"))


@dataclass(frozen=True)
class RepositorySpec:
    """One git repository at one revision."""

    url: str
    revision: str
    paths: PathFilter = field(default_factory=PathFilter)
    licence: str | None = None


@dataclass(frozen=True)
class PackageSpec:
    """One package of an index, at one version or the newest."""

    name: str
    version: str | None = None
    paths: PathFilter = field(default_factory=PathFilter)
    licence: str | None = None


@dataclass(frozen=True)
class StackSpec:
    """A dataset in the form of The Stack v2: which files there are, and where their bytes lie."""

    dataset: str
    """Name on the Hub, or a folder."""
    configs: tuple[str, ...]
    """Configurations that list `.cu` files; with a slash in it, a folder of the dataset."""
    header_configs: tuple[str, ...] = ()
    """Configurations that list further files of the same repositories."""
    revision: str = "main"
    split: str = "train"
    paths: PathFilter = field(default_factory=PathFilter)
    max_files: int | None = None
    """How many `.cu` files are taken, in the dataset's order."""
    bucket: BucketSettings = field(default_factory=BucketSettings)
    workers: int = 16
    """Files fetched at the same time."""


@dataclass(frozen=True)
class SourcesConfig:
    """Everything that one YAML file asks for."""

    repositories: tuple[RepositorySpec, ...] = ()
    packages: tuple[PackageSpec, ...] = ()
    stack: StackSpec | None = None


def read_sources(path: Path) -> SourcesConfig:
    """The sources that the YAML file at `path` lists.

    Raises:
        ConfigurationError: the file is missing or not YAML, or an entry is wrong; the message
            names the file, the entry and the remedy.
    """
    try:
        content = yaml.safe_load(path.read_text("utf-8")) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigurationError(f"{path}: cannot be read as YAML: {error}") from error
    where = str(path)
    _check_keys(content, {"repositories", "packages", "stack"}, where)
    stack = content.get("stack")
    return SourcesConfig(
        tuple(_repository(e, at) for e, at in _entries(content, "repositories", where)),
        tuple(_package(e, at) for e, at in _entries(content, "packages", where)),
        None if stack is None else _stack(stack, f"{where}: stack"),
    )


def _repository(entry: dict[str, Any], where: str) -> RepositorySpec:
    _check_keys(entry, {"url", "revision"} | _SHARED_KEYS, where)
    url, revision = _text(entry, "url", where), _text(entry, "revision", where)
    if url is None or revision is None:
        raise ConfigurationError(f"{where}: give both url and revision (branch, tag or commit)")
    if problem := problem_with_url(url):
        raise ConfigurationError(f"{where}: url {url!r} {problem}")
    if not _REVISION.fullmatch(revision):
        raise ConfigurationError(f"{where}: revision {revision!r} is no branch, tag or commit")
    return RepositorySpec(url, revision, _paths(entry, where), _licence(entry, where))


def _package(entry: dict[str, Any], where: str) -> PackageSpec:
    from packaging.version import InvalidVersion, Version

    _check_keys(entry, {"name", "version"} | _SHARED_KEYS, where)
    name, version = _text(entry, "name", where), _text(entry, "version", where)
    if name is None or not _PACKAGE.fullmatch(name):
        raise ConfigurationError(f"{where}: give the package's name as on its index, not {name!r}")
    try:
        pinned = None if version is None else str(Version(version))
    except InvalidVersion:
        raise ConfigurationError(f'{where}: version {version!r} is not one, as "1.2.3"') from None
    return PackageSpec(name, pinned, _paths(entry, where), _licence(entry, where))


def _stack(entry: dict[str, Any], where: str) -> StackSpec:
    _check_keys(entry, _STACK_KEYS, where)
    dataset = _text(entry, "dataset", where)
    configs = _texts(entry, "configs", where, ("Cuda",), "names, as [Cuda]")
    if dataset is None or not configs:
        raise ConfigurationError(
            f"{where}: give the dataset (owner/name or a folder) and at least one of its configs"
        )
    usual = BucketSettings()
    signed = entry.get("signed", usual.signed)
    if not isinstance(signed, bool):
        raise ConfigurationError(f"{where}: signed must be true or false")
    return StackSpec(
        dataset,
        configs,
        _texts(entry, "header_configs", where, (), "names, as [C, C++]"),
        _text(entry, "revision", where) or "main",
        _text(entry, "split", where) or "train",
        _paths(entry, where),
        _count(entry, "max_files", where),
        BucketSettings(
            _text(entry, "contents", where) or usual.location,
            _text(entry, "endpoint", where) or usual.endpoint,
            _text(entry, "region", where) or usual.region,
            signed,
        ),
        _count(entry, "workers", where) or StackSpec.workers,
    )


def problem_with_url(url: str) -> str | None:
    """Why `url` is not handed to git, or None if it is."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError as error:
        return f"is not a URL: {error}"
    if parts.scheme not in SCHEMES or not url.startswith(f"{parts.scheme}://"):
        return f"must begin with one of {', '.join(f'{s}://' for s in SCHEMES)}"
    if host.startswith("-") or any(ord(char) <= 32 for char in url):
        return "has a host that begins with a dash, or white space"
    return None


def _paths(entry: dict[str, Any], where: str) -> PathFilter:
    default = PathFilter()
    return PathFilter(
        include=_globs(entry, "include", where, default.include),
        exclude=_globs(entry, "exclude", where, default.exclude),
    )


def _globs(
    entry: dict[str, Any], key: str, where: str, default: tuple[str, ...]
) -> tuple[str, ...]:
    return _texts(entry, key, where, default, 'globs, as ["*.cu"]')


def _texts(
    entry: dict[str, Any], key: str, where: str, default: tuple[str, ...], what: str
) -> tuple[str, ...]:
    texts = entry.get(key, list(default))
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise ConfigurationError(f"{where}: {key} must be a list of {what}")
    return tuple(texts)


def _licence(entry: dict[str, Any], where: str) -> str | None:
    text = _text(entry, "licence", where)
    if text is None:
        return None
    if (expression := normalised(text)) is None:
        raise ConfigurationError(f"{where}: licence {text!r} is not SPDX, as MIT or Apache-2.0")
    return expression


def _count(entry: dict[str, Any], key: str, where: str) -> int | None:
    value = entry.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise ConfigurationError(f"{where}: {key} must be a whole number above 0")
    return value


def _text(entry: dict[str, Any], key: str, where: str) -> str | None:
    value = entry.get(key)
    if value is not None and not (isinstance(value, str) and value):
        raise ConfigurationError(f'{where}: {key} must be text; write {key}: "{value}"')
    return value


def _entries(content: dict[str, Any], key: str, where: str) -> list[tuple[dict[str, Any], str]]:
    entries = content.get(key) or []
    if not isinstance(entries, list):
        raise ConfigurationError(f"{where}: {key} must be a list, each entry after a dash")
    return [(entry, f"{where}: {key}[{number}]") for number, entry in enumerate(entries)]


def _check_keys(entry: object, known: set[str] | frozenset[str], where: str) -> None:
    if not isinstance(entry, dict):
        raise ConfigurationError(f"{where}: must have keys and values; keys: {sorted(known)}")
    if unknown := sorted(str(key) for key in entry if key not in known):
        raise ConfigurationError(f"{where}: unknown key {unknown[0]!r}; keys: {sorted(known)}")

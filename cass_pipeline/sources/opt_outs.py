"""What must not be used because somebody asked: read from YAML, matched against units.

opt_outs:
  - repository: https://github.com/owner/name    # or owner/name, a package, a folder
    date: 2026-12-04
    reason: asked by the author                  # optional, never published
  - repository: owner/name
    path: "src/private/*"                        # glob; `*` also matches `/`
    date: 2026-12-04
  - unit_id: 64 hexadecimal digits
    date: 2026-12-04
  - content: 40 hexadecimal digits               # of one file, see `SourceFile`
    date: 2026-12-04

An entry counts for every source, and for a unit whose headers it names as for one whose main file
it names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from cass_pipeline.errors import ConfigurationError
from cass_pipeline.records import Row
from cass_pipeline.units import digest_of

_KEYS = frozenset({"repository", "path", "unit_id", "content", "date", "reason"})
_UNIT_ID = re.compile(r"[0-9a-f]{64}")
_CONTENT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class OptOut:
    """One request. Exactly one of repository (with or without path), unit and content is given."""

    date: date
    """Day of the request."""
    repository: str = ""
    """A source's name: address or `owner/name` of a repository, a package, a folder."""
    path: str = ""
    """Glob over paths in the repository; empty is all of it."""
    unit_id: str = ""
    content: str = ""
    """SHA-1 of a file's bytes, plain or as git computes it (hexadecimal)."""
    reason: str = ""
    """For whoever keeps the list; it is not published."""

    @property
    def kind(self) -> str:
        """What it names: `repository`, `path`, `unit` or `content`."""
        if self.repository:
            return "path" if self.path else "repository"
        return "unit" if self.unit_id else "content"

    @property
    def entry_id(self) -> str:
        """Hash of what it names; date and reason may be corrected without a new entry."""
        name = _plain(self.repository) if self.repository else ""
        return digest_of("opt_out", name, self.path, self.unit_id, self.content)

    @property
    def evidence(self) -> str:
        """One line for the ledger."""
        return f"{self.kind}, asked for on {self.date.isoformat()}"


@dataclass(frozen=True)
class OptOuts:
    """All requests; none by default."""

    entries: tuple[OptOut, ...] = ()

    def of_source(self, name: str) -> OptOut | None:
        """The request that takes out everything of the source called `name`."""
        return _first(entry for entry in self._of_name(name) if not entry.path)

    def of_file(self, name: str, path: str, hashes: Iterable[str] = ()) -> OptOut | None:
        """The request that takes out one file, whatever unit it belongs to.

        Args:
            name: the source's name.
            path: the file's path in the source.
            hashes: SHA-1 sums of its bytes, as far as they are known.
        """
        return _first(
            [
                *(e for e in self._of_name(name) if not e.path or fnmatchcase(path, e.path)),
                *(self._contents[one] for one in hashes if one in self._contents),
            ]
        )

    def of_row(self, row: Row) -> OptOut | None:
        """The request that takes out a unit; of several, the earliest.

        Args:
            row: `unit_id`, `source_name`, `source_path` and `source_files`, as in `COLLECTED`.
        """
        if not self.entries:
            return None
        files = [(file["path"], file["hashes"]) for file in row["source_files"] or ()]
        found = [
            self.of_file(row["source_name"], path, hashes)
            for path, hashes in [(row["source_path"], ()), *files]
        ]
        return _first([*(one for one in found if one), *self._units.get(row["unit_id"], ())])

    @property
    def entry_ids(self) -> frozenset[str]:
        """`entry_id` of every request."""
        return frozenset(entry.entry_id for entry in self.entries)

    def _of_name(self, name: str) -> Iterator[OptOut]:
        if self._names:
            for known in _known_as(name):
                yield from self._names.get(known, ())

    @cached_property
    def _names(self) -> dict[str, list[OptOut]]:
        names: dict[str, list[OptOut]] = defaultdict(list)
        for entry in self.entries:
            if entry.repository:
                names[_plain(entry.repository)].append(entry)
        return names

    @cached_property
    def _units(self) -> dict[str, list[OptOut]]:
        return {entry.unit_id: [entry] for entry in self.entries if entry.unit_id}

    @cached_property
    def _contents(self) -> dict[str, OptOut]:
        return {entry.content: entry for entry in self.entries if entry.content}


def read_opt_outs(path: Path) -> OptOuts:
    """The requests in the YAML file at `path`.

    Raises:
        ConfigurationError: the file is missing (an empty one is needed, so that a wrong path does
            not undo every request) or not YAML, or an entry is wrong.
    """
    try:
        content = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise ConfigurationError(
            f"{path}: there is no list of opt-outs; make the file, with `opt_outs: []` for none"
        ) from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigurationError(f"{path}: cannot be read as YAML: {error}") from error
    if content is None:
        content = {"opt_outs": []}
    if not isinstance(content, dict) or set(content) != {"opt_outs"}:
        raise ConfigurationError(f"{path}: must have the one key `opt_outs`, a list of entries")
    entries = content["opt_outs"] or []
    if not isinstance(entries, list):
        raise ConfigurationError(f"{path}: opt_outs must be a list, each entry after a dash")
    return OptOuts(
        tuple(_entry(entry, f"{path}: opt_outs[{number}]") for number, entry in enumerate(entries))
    )


def _entry(entry: object, where: str) -> OptOut:
    if not isinstance(entry, dict):
        raise ConfigurationError(f"{where}: must have keys and values; keys: {sorted(_KEYS)}")
    if unknown := sorted(str(key) for key in entry if key not in _KEYS):
        raise ConfigurationError(f"{where}: unknown key {unknown[0]!r}; keys: {sorted(_KEYS)}")
    named = [key for key in ("repository", "unit_id", "content") if key in entry]
    if len(named) != 1 or ("path" in entry and named != ["repository"]):
        raise ConfigurationError(
            f"{where}: give one of repository (perhaps with path), unit_id and content"
        )
    if not isinstance(day := entry.get("date"), date):
        raise ConfigurationError(f"{where}: give the day of the request, as date: 2026-12-04")
    made = OptOut(
        day,
        repository=_text(entry, "repository", where),
        path=_text(entry, "path", where),
        unit_id=_text(entry, "unit_id", where).lower(),
        content=_text(entry, "content", where).lower().removeprefix("swh:1:cnt:"),
        reason=_text(entry, "reason", where),
    )
    if made.unit_id and not _UNIT_ID.fullmatch(made.unit_id):
        raise ConfigurationError(f"{where}: unit_id must be 64 hexadecimal digits")
    if made.content and not _CONTENT.fullmatch(made.content):
        raise ConfigurationError(f"{where}: content must be a SHA-1, 40 hexadecimal digits")
    return made


def _text(entry: dict[str, Any], key: str, where: str) -> str:
    value = entry.get(key, "")
    if key in entry and not (isinstance(value, str) and value.strip()):
        raise ConfigurationError(f'{where}: {key} must be text; write {key}: "{value}"')
    return str(value).strip()


def _first(found: Iterable[OptOut]) -> OptOut | None:
    """The earliest request, so that the answer does not depend on the order of the list."""
    return min(found, key=lambda entry: (entry.date, entry.entry_id), default=None)


def _plain(name: str) -> str:
    """A source's name without what does not tell it from others: scheme, user, `.git`, case."""
    name = re.sub(r"^[a-z+]+://", "", name.strip().lower())
    name = name.rpartition("@")[2].rstrip("/").removesuffix(".git")
    # Packages are known under several spellings, see PEP 503.
    return name if "/" in name else re.sub(r"[-_.]+", "-", name)


def _known_as(name: str) -> Iterator[str]:
    """All that an entry may call the source: with its host, or from `owner/name` on."""
    plain = _plain(name)
    yield plain
    parts = plain.split("/")
    for start in range(1, len(parts) - 1):
        yield "/".join(parts[start:])

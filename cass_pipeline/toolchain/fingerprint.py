"""One hash over everything that shapes a toolchain's artefacts.

Contents are hashed, not paths or times, so that two machines with the same toolchain agree.
Hashing half a gigabyte of compilers takes seconds; the result is kept in the cache under the
files' sizes and modification times, and later calls only look at those.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from cass_pipeline.toolchain.fetch import sha256_of
from cass_pipeline.units import digest_of

_STORE = "fingerprints.json"


def fingerprint(parts: Sequence[Path], texts: Iterable[str], cache: Path) -> str:
    """SHA-256 (hexadecimal) over the contents of `parts` and over `texts`, in order.

    Args:
        parts: files, and folders with all files below them.
        texts: whatever else shapes the artefacts: flags, versions.
        cache: folder to keep earlier results in; made if needed.
    """
    store = cache / _STORE
    known = _load(store)
    digests = []
    for part in parts:
        seen = _stamps(part)
        entry = known.get(str(part))
        if entry is None or entry["seen"] != seen:
            entry = {"seen": seen, "content": _content(part)}
            known[str(part)] = entry
            _save(store, known)
        digests.append(entry["content"])
    return digest_of(*digests, *texts)


def _files(part: Path) -> Iterator[Path]:
    if not part.is_dir():
        yield part
        return
    for folder, folders, names in os.walk(part):
        folders.sort()
        # Python writes its caches into wheel folders whenever it likes.
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (Path(folder, name) for name in sorted(names))


def _stamps(part: Path) -> str:
    digest = hashlib.sha256()
    for file in _files(part):
        found = file.stat()
        digest.update(f"{file}\0{found.st_size}\0{found.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _content(part: Path) -> str:
    parts = (f"{file.relative_to(part)}\0{sha256_of(file)}" for file in _files(part))
    return digest_of(*parts)


def _load(store: Path) -> dict[str, dict[str, Any]]:
    try:
        loaded = json.loads(store.read_text())
    except (OSError, ValueError):
        # Nothing kept, or damaged: everything is hashed anew.
        return {}
    return loaded if isinstance(loaded, dict) else {}


def _save(store: Path, known: dict[str, dict[str, Any]]) -> None:
    store.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=store.parent, prefix=f".{_STORE}.")
    with os.fdopen(handle, "w") as out:
        json.dump(known, out)
    Path(name).replace(store)

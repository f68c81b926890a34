"""Precompiled HIP headers: three quarters of a small unit's compile time is parsing them.

A unit gets the precompiled headers only where they cannot change what it means: its main file
begins with `#include <hip/hip_runtime.h>`, and no file of its tree is named like a header that
was precompiled. One file is made for each set of flags, and kept in the cache.
"""

from __future__ import annotations

import fcntl
import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cass_pipeline.units import SourceTree

HEADER = "hip/hip_runtime.h"

_BEGINS_WITH_HEADER = re.compile(
    r"(?:\s|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)*+#\s*include\s*[<\"]" + re.escape(HEADER)
)


@dataclass(frozen=True)
class Precompiled:
    """What a compiler made of the headers."""

    data: bytes
    """The compiler's own format."""
    dependencies: str
    """The make rule that names every header read (`-MD`)."""


@dataclass(frozen=True)
class PrecompiledHeaders:
    """The precompiled headers of one toolchain. Two processes may share the folder."""

    folder: Path

    def provide(
        self, tree: SourceTree, key: str, make: Callable[[Path], Precompiled]
    ) -> Path | None:
        """The file to compile `tree` with, or None where none fits.

        Args:
            tree: the unit.
            key: hash over the toolchain and every flag that must agree.
            make: runs the compiler on the source file it is given; called where no file with
                this key is there yet.
        """
        if not _BEGINS_WITH_HEADER.match(tree.main_text):
            return None
        headers = set(json.loads(self._made(key, make).read_text()))
        if any(path.rpartition("/")[2] in headers for path in tree.files):
            return None
        return self.folder / f"{key}.pch"

    def _made(self, key: str, make: Callable[[Path], Precompiled]) -> Path:
        """The list of precompiled headers; it is written last."""
        listed = self.folder / f"{key}.json"
        if not listed.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            with (self.folder / "lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not listed.exists():
                    source = self.folder / "headers.hip"
                    # Written once: what was made from it notes its modification time.
                    if not source.exists():
                        _write(source, f"#include <{HEADER}>\n".encode())
                    made = make(source)
                    names = sorted({Path(word).name for word in made.dependencies.split()})
                    _write(self.folder / f"{key}.pch", made.data)
                    _write(listed, json.dumps(names).encode())
        return listed


def _write(target: Path, data: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as file:
        file.write(data)
    Path(file.name).chmod(0o644)
    Path(file.name).replace(target)

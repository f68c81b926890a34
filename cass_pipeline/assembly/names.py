"""Demangled names, by binutils' c++filt: one process for any number of names."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from cass_pipeline.errors import ToolchainError


def demangle(names: Sequence[str], filter_program: Path) -> dict[str, str]:
    """Demangled name of each mangled name; a name that is none stays as it is.

    Args:
        names: mangled names.
        filter_program: `c++filt` or a program used like it.

    Raises:
        ToolchainError: the program does not run.
    """
    plain = [name for name in names if name and not any(char.isspace() for char in name)]
    if not plain:
        return {name: name for name in names}
    try:
        done = subprocess.run(
            [str(filter_program)],
            input="".join(f"{name}\n" for name in plain).encode("utf-8", "surrogateescape"),
            capture_output=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise ToolchainError(f"{filter_program} does not demangle names: {error}") from error
    lines = done.stdout.decode("utf-8", "surrogateescape").split("\n")
    return {name: name for name in names} | dict(zip(plain, lines, strict=False))

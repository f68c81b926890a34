"""Whether an included name belongs to the compiler, the CUDA toolkit or ROCm."""

from __future__ import annotations

from functools import cache
from importlib import resources

import yaml


def is_external(name: str) -> bool:
    """Whether `name` is a standard C, C++, POSIX, CUDA or HIP header, by `headers.yaml`."""
    names, prefixes = _table()
    return name in names or name.startswith(prefixes)


@cache
def _table() -> tuple[frozenset[str], tuple[str, ...]]:
    text = resources.files(__package__).joinpath("headers.yaml").read_text("utf-8")
    lists: dict[str, str] = yaml.safe_load(text)
    prefixes = tuple(lists.pop("prefixes").split())
    return frozenset(name for names in lists.values() for name in names.split()), prefixes

"""Which package index the user's pip is configured to use, and how it is reached."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import dataclass, fields

from cass_pipeline.errors import ConfigurationError

_SECONDS = 60
_SECTIONS = ("global", "download", ":env:")
"""Sections of pip's configuration that apply to `pip download`, the stronger later."""


@dataclass(frozen=True)
class IndexSettings:
    """Where packages are looked for; the names are those of pip's options."""

    index_url: str | None = None
    """None is the finder's default, the public index."""
    extra_index_url: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    trusted_host: tuple[str, ...] = ()
    no_index: bool = False
    cert: str | None = None
    """File of certificate authorities; None is the system's."""
    proxy: str | None = None


def pip_index_settings() -> IndexSettings:
    """The settings that `pip download` would use here: files, then `PIP_` variables.

    Asks `pip config list` of the running interpreter, since only pip knows where its files lie.

    Raises:
        ConfigurationError: pip is not installed here, or does not understand its configuration.
    """
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigurationError(f"pip config list: {error}") from error
    if result.returncode != 0:
        raise ConfigurationError(
            f"pip config list failed: {result.stderr.strip()[-500:]}; mend pip's configuration, "
            "or install pip, or state the index yourself"
        )
    return parse_pip_config(result.stdout)


def parse_pip_config(listing: str) -> IndexSettings:
    """The settings in the output of `pip config list` (lines of `section.key='value'`)."""
    found: dict[str, dict[str, str]] = {section: {} for section in _SECTIONS}
    for line in listing.splitlines():
        name, _, value = line.partition("=")
        section, _, key = name.partition(".")
        if section in found:
            found[section][key.replace("-", "_")] = _unquoted(value)
    merged = found["global"] | found["download"] | found[":env:"]
    words = {key: tuple(merged.get(key, "").split()) for key in _LISTS}
    return IndexSettings(
        index_url=merged.get("index_url") or None,
        extra_index_url=words["extra_index_url"],
        find_links=words["find_links"],
        trusted_host=words["trusted_host"],
        no_index=merged.get("no_index", "").lower() in ("1", "true", "yes", "on", "y", "t"),
        cert=merged.get("cert") or None,
        proxy=merged.get("proxy") or None,
    )


_LISTS = tuple(field.name for field in fields(IndexSettings) if field.default == ())


def _unquoted(value: str) -> str:
    try:
        return str(ast.literal_eval(value))
    except (ValueError, SyntaxError):
        return value

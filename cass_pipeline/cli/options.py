"""Options that several commands share."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from platformdirs import user_cache_path

from cass_pipeline.errors import ToolchainError

if TYPE_CHECKING:
    from rich.console import Console

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]

Cache = Annotated[
    Path,
    typer.Option(
        "--cache",
        envvar="CASS_CACHE",
        help="Folder of downloaded toolchains and sources.",
        default_factory=lambda: user_cache_path("cass_pipeline"),
        show_default="the user's cache folder",
    ),
]

Home = Annotated[
    Path,
    typer.Option("--home", envvar="CASS_HOME", help="Folder that the pipeline writes to."),
]


class ReportedError(ToolchainError):
    """The command has printed its result, and that result is a failure."""


def open_console() -> Console:
    """Standard output; wide where it is no terminal, so that logs and pipes get whole lines."""
    from rich.console import Console

    # Names from outside are never markup.
    return Console(width=None if sys.stdout.isatty() else 160, markup=False, highlight=False)


def print_json(value: Any) -> None:
    """One JSON object on standard output."""
    print(json.dumps(value, indent=2, ensure_ascii=False))

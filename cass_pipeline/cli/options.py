"""Options that several commands share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from platformdirs import user_cache_path

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


def print_json(value: Any) -> None:
    """One JSON object on standard output."""
    print(json.dumps(value, indent=2, ensure_ascii=False))

"""`cass toolchain`: what the compilers need, and what of it is there."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cass_pipeline.cli.options import Cache, Json, ReportedError, open_console, print_json
from cass_pipeline.toolchain.install import ComponentStatus, Report

app = typer.Typer(help="The compilers of both sides.", no_args_is_help=True)

Mirror = Annotated[
    str | None,
    typer.Option(
        "--debian-mirror",
        envvar="CASS_DEBIAN_MIRROR",
        help="Base URL of a Debian archive; without it, the one that apt is configured with.",
    ),
]


@app.command()
def status(cache: Cache, json: Json = False) -> None:
    """Show every component: whether it is there, its version, and what to do if it is not.

    The exit code is 3 if something is missing.
    """
    from cass_pipeline.toolchain.install import status as status_of

    _show(status_of(cache), cache, json)


@app.command()
def install(cache: Cache, debian_mirror: Mirror = None, json: Json = False) -> None:
    """Fetch and unpack what is missing into the cache folder; needs no root."""
    from cass_pipeline.toolchain.install import install as install_into

    report = install_into(
        cache, debian_mirror=debian_mirror, progress=lambda line: typer.echo(line, err=True)
    )
    _show(report, cache, json)


def _show(report: Report, cache: Path, json: bool) -> None:
    from rich.table import Table

    from cass_pipeline.toolchain.local import local_sandbox

    isolation = local_sandbox(cache).isolation
    components = [*map(_fields, report.components)]
    if json:
        print_json({"complete": report.complete, "isolation": isolation, "components": components})
    else:
        table = Table("component", "state", "version", "purpose", title="Toolchains")
        for component in report.components:
            state = "present" if component.present else component.remedy
            table.add_row(component.name, state, component.version, component.purpose)
        console = open_console()
        console.print(table)
        console.print(f"Compilers run with: {isolation}")
    if not report.complete:
        names = ", ".join(component.name for component in report.missing)
        raise ReportedError(f"missing: {names}; the table says how to get each")


def _fields(component: ComponentStatus) -> dict[str, object]:
    return asdict(component) | {"path": str(component.path) if component.path else None}

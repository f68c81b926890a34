"""The command and its exit codes: 0 done, 1 the input's fault, 2 wrong use, 3 the machine's."""

from __future__ import annotations

import json
import sys

import typer

from cass_pipeline.cli import compiling, ledger, toolchains, translating
from cass_pipeline.cli.options import ReportedError
from cass_pipeline.errors import CassError, ConfigurationError, InfrastructureError, InputError

EXIT_CODES: dict[type[CassError], int] = {
    InputError: 1,
    ConfigurationError: 2,
    InfrastructureError: 3,
}
"""Exit code by kind of error; a subclass has its parent's."""

app = typer.Typer(
    name="cass",
    help="Verified CUDA/HIP and SASS/RDNA3 code pairs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("translate")(translating.translate)
app.command("compile")(compiling.compile_file)
app.command("ledger")(ledger.show)
app.add_typer(toolchains.app, name="toolchain")


def main() -> None:
    """Entry point of the console script."""
    try:
        app()
    except CassError as error:
        code = next(EXIT_CODES[kind] for kind in type(error).__mro__ if kind in EXIT_CODES)
        if "--json" in sys.argv and not isinstance(error, ReportedError):
            print(json.dumps({"error": {"kind": type(error).__name__, "message": str(error)}}))
        print(f"cass: {error}", file=sys.stderr)
        raise SystemExit(code) from None

"""`cass translate`: one CUDA file to HIP."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cass_pipeline.cli.inputs import read_tree, write_tree
from cass_pipeline.cli.options import Json, print_json
from cass_pipeline.errors import ConfigurationError
from cass_pipeline.translate.interface import Finding, Severity, Translation

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="A file, or a folder for the file and its headers. Without it: standard output.",
    ),
]


def translate(file: Path, output: Output = None, json: Json = False) -> None:
    """Translate a CUDA file, and the local headers it includes, to HIP.

    Findings go to standard error, as `file:line: severity: message`. The exit code is 1 if
    something could not be translated; the result is written all the same.
    """
    from cass_pipeline.translate.cuda_to_hip import CudaToHip

    translation = CudaToHip().translate(read_tree(file))
    written = _write(translation, output, file.parent) if output else []
    if json:
        print_json(
            {
                "main_path": translation.tree.main_path,
                "files": dict(translation.tree.files),
                "findings": [asdict(finding) for finding in translation.findings],
                "written": [str(path) for path in written],
            }
        )
    elif output is None:
        typer.echo(translation.tree.main_text, nl=False)
    if not json:
        _report(translation, written)
    if any(finding.severity is Severity.ERROR for finding in translation.findings):
        raise typer.Exit(1)


def _write(translation: Translation, output: Path, source_folder: Path) -> list[Path]:
    files = dict(translation.tree.files)
    if output.is_dir() or not output.suffix:
        return write_tree(files, output, source_folder)
    # A file was named: the translated headers it includes belong beside it.
    main = files.pop(translation.tree.main_path)
    if "/" in translation.tree.main_path:
        raise ConfigurationError(
            f"{source_folder}: the file includes headers above its folder; give -o a folder"
        )
    return write_tree({output.name: main, **files}, output.parent, source_folder)


def _report(translation: Translation, written: list[Path]) -> None:
    for finding in translation.findings:
        if finding.severity is not Severity.INFO:
            typer.echo(_line(finding), err=True)
    counts = Counter(finding.severity.value for finding in translation.findings)
    summary = ", ".join(f"{counts[severity.value]} {severity.value}" for severity in Severity)
    typer.echo(f"findings: {summary}", err=True)
    for path in written:
        typer.echo(f"wrote {path}", err=True)


def _line(finding: Finding) -> str:
    return (
        f"{finding.path}:{finding.line}: {finding.severity.value}: {finding.message} "
        f"[{finding.rule}]"
    )

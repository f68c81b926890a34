"""The documentation does what it says: commands run, tables and options are complete."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
import typer.main
import yaml

from cass_pipeline.cli.app import app
from cass_pipeline.sources.config import SourcesConfig, read_sources
from cass_pipeline.sources.opt_outs import read_opt_outs
from tests.checkout import ROOT, Checkout

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return [body for kind, body in BLOCK.findall(page.read_text()) if kind == language]


def commands() -> list[str]:
    lines = (line for page in PAGES for block in blocks(page, "sh") for line in block.splitlines())
    return [line.split("  #")[0].strip() for line in lines if line.strip()]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory, toolchain_cache: Path) -> Checkout:
    """Commands run here, one after the other, on one small program."""
    checkout = Checkout.make(tmp_path_factory.mktemp("docs") / "checkout")
    checkout.kernel(1, "tiled_matmul.cu")
    assert checkout.run()[0] == 0
    return checkout


@pytest.mark.parametrize("command", [c for c in commands() if not c.startswith("make ")])
def test_commands_run(checkout: Checkout, command: str) -> None:
    done = subprocess.run(
        shlex.split(command), cwd=checkout.folder, env=checkout.env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("command", [c for c in commands() if c.startswith("make ")])
def test_make_targets_exist(command: str) -> None:
    """They are what runs these tests; here it is enough that make knows them."""
    done = subprocess.run([*shlex.split(command), "-n"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert "://" in target or (page.parent / target).exists(), (page.name, target)


def test_tables_and_reasons_are_current() -> None:
    script = _script("write_docs")
    assert (ROOT / "docs" / "tables.md").read_text() == script.tables()
    assert (ROOT / "docs" / "ledger.md").read_text() == script.ledger()


def test_every_command_and_option_is_documented() -> None:
    text = (ROOT / "docs" / "commands.md").read_text()
    group = typer.main.get_command(app)
    waiting = [("cass", group)]
    while waiting:
        name, command = waiting.pop()
        for child_name, child in getattr(command, "commands", {}).items():
            assert f"{name} {child_name}" in text
            waiting.append((f"{name} {child_name}", child))
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("--") and option != "--help":
                    assert option in text, (name, option)


def test_the_configuration_examples_are_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CASS_HOME", str(tmp_path))
    import dagster as dg

    from cass_pipeline.definitions import defs

    job = defs.resolve_job_def("refresh_corpus")
    for page in PAGES:
        for block in blocks(page, "yaml"):
            content = yaml.safe_load(block)
            if "opt_outs" in content:
                (tmp_path / "opt_outs.yaml").write_text(block)
                assert read_opt_outs(tmp_path / "opt_outs.yaml").entries
            elif {"repositories", "packages", "stack"} & set(content):
                (tmp_path / "sources.yaml").write_text(block)
                assert read_sources(tmp_path / "sources.yaml") != SourcesConfig()
            else:
                assert dg.validate_run_config(job, content)


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

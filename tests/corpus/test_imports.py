from __future__ import annotations

import subprocess
import sys

PROBE = """
import pkgutil, sys
import cass_pipeline.corpus
for module in pkgutil.iter_modules(cass_pipeline.corpus.__path__):
    __import__(f"cass_pipeline.corpus.{module.name}")
print(*sorted(set(sys.argv[1:]) & set(sys.modules)))
"""
HEAVY = ("dagster", "datasets", "datasketch", "duckdb", "great_expectations", "huggingface_hub")


def test_importing_the_corpus_modules_loads_no_heavy_package() -> None:
    command = [sys.executable, "-c", PROBE, *HEAVY, "jinja2", "pandas"]
    probe = subprocess.run(command, check=True, capture_output=True, text=True)
    assert probe.stdout.strip() == ""

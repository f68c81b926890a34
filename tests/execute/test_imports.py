"""`execute` runs on a GPU machine that has NumPy and nothing else of this project's needs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

CODE = """
import importlib, json, pkgutil, sys
import cass_pipeline.execute as package
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    importlib.import_module(module.name)
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def test_numpy_and_the_standard_library_suffice() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        check=True,
    )
    loaded = set(json.loads(done.stdout))
    assert {"cass_pipeline", "numpy"} <= loaded
    assert not loaded & {"pyarrow", "polars", "dagster", "cuda", "torch", "yaml", "docker"}

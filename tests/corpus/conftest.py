from __future__ import annotations

from pathlib import Path

import pytest

from cass_pipeline.corpus.engine import Engine


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(temp_directory=tmp_path / "scratch", memory_limit="500MB", threads=2)

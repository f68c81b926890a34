"""Where the installed HIP headers are."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def rocm_include(toolchain_cache: Path) -> Path:
    """Include root of the installed HIP headers."""
    return toolchain_cache / "hip" / "usr" / "include"

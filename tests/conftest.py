"""Fixtures shared by all tests: the real toolchains, installed once for every run."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from cass_pipeline.toolchain.amd import LocalClangToolchain
from cass_pipeline.toolchain.install import install
from cass_pipeline.toolchain.local import local_amd, local_nvidia
from cass_pipeline.toolchain.nvidia import LocalNvccToolchain


@pytest.fixture(scope="session")
def toolchain_cache() -> Path:
    """The default cache folder, complete: fetched on the first run, reused by later ones."""
    cache = Path(platformdirs.user_cache_dir("cass_pipeline"))
    report = install(cache)
    assert report.complete, [f"{part.name}: {part.remedy}" for part in report.missing]
    return cache


@pytest.fixture(scope="session")
def nvidia_toolchain(toolchain_cache: Path) -> LocalNvccToolchain:
    """The NVIDIA side of this machine."""
    return local_nvidia(toolchain_cache)


@pytest.fixture(scope="session")
def amd_toolchain(toolchain_cache: Path) -> LocalClangToolchain:
    """The AMD side of this machine."""
    return local_amd(toolchain_cache)

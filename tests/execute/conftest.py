"""Fixtures of the tests of execution; imports nothing that a bare GPU machine lacks."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from cass_pipeline.errors import DeviceError
from cass_pipeline.execute.nvidia import NvidiaGpu
from cass_pipeline.execute.sandbox import Sandbox


@pytest.fixture(scope="session")
def isolating() -> Sandbox:
    """A sandbox with bubblewrap."""
    sandbox = Sandbox.detect()
    if sandbox.bwrap is None:
        pytest.skip(f"no isolation on this machine: {sandbox.note}")
    return sandbox


@pytest.fixture(params=["bubblewrap", "limits only"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Both kinds of sandbox, for what they have in common."""
    if request.param == "limits only":
        return Sandbox(None)
    found: Sandbox = request.getfixturevalue("isolating")
    return found


@pytest.fixture(scope="session")
def python_folders() -> list[Path]:
    """What has to be shown to a sandbox for `sys.executable` to run in it."""
    return [Path(sys.prefix), Path(sys.base_prefix)]


@pytest.fixture(scope="session")
def gpu() -> NvidiaGpu:
    """The first NVIDIA GPU."""
    try:
        return NvidiaGpu.available()
    except DeviceError as error:
        pytest.skip(f"no NVIDIA GPU: {error}")


@pytest.fixture(scope="session")
def nvcc() -> str:
    """The CUDA compiler on PATH."""
    found = shutil.which("nvcc")
    if found is None:
        pytest.skip("no nvcc on PATH")
    return found

"""The table of headers against the headers that are installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from cass_pipeline.sources.headers import is_external


def test_every_header_of_the_installed_cuda_toolkit_is_known() -> None:
    spec = importlib.util.find_spec("nvidia.cu13")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the extra `nvidia` is not installed")
    include = Path(next(iter(spec.submodule_search_locations))) / "include"
    headers = [
        path.relative_to(include).as_posix()
        for path in include.rglob("*.h*")
        if path.relative_to(include).parts[0] not in ("cccl", "nvvm.h")
    ]
    assert len(headers) > 60
    assert [name for name in headers if not is_external(name)] == []


@pytest.mark.parametrize(
    "name", ["vector", "stdio.h", "cub/cub.cuh", "thrust/sort.h", "hip/hip_runtime.h", "sys/time.h"]
)
def test_standard_headers_are_known(name: str) -> None:
    assert is_external(name)


@pytest.mark.parametrize("name", ["common.h", "torch/extension.h", "cubes.h", "vector.cuh"])
def test_other_headers_are_not(name: str) -> None:
    assert not is_external(name)

"""The YAML file: what it may hold, and what is said about mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from cass_pipeline.errors import ConfigurationError
from cass_pipeline.sources.bucket import BucketSettings
from cass_pipeline.sources.config import (
    PackageSpec,
    RepositorySpec,
    SourcesConfig,
    StackSpec,
    problem_with_url,
    read_sources,
)
from cass_pipeline.sources.settings import PathFilter

DEFAULT = Path(__file__).parents[2] / "config" / "sources.yaml"


def read(folder: Path, text: str) -> SourcesConfig:
    path = folder / "sources.yaml"
    path.write_text(text)
    return read_sources(path)


def test_a_full_file(tmp_path: Path) -> None:
    text = """
    repositories:
      - url: https://example.org/a/b.git
        revision: v1.2
        include: ["*.cu", "*.cuh"]
        exclude: ["third_party/*"]
        licence: mit
    packages:
      - name: some-package
        version: "1.0.0"
      - name: other
    """
    assert read(tmp_path, text) == SourcesConfig(
        (
            RepositorySpec(
                "https://example.org/a/b.git",
                "v1.2",
                PathFilter(("*.cu", "*.cuh"), ("third_party/*",)),
                "MIT",
            ),
        ),
        (PackageSpec("some-package", "1.0.0"), PackageSpec("other")),
    )


def test_a_dataset(tmp_path: Path) -> None:
    assert read(tmp_path, "stack: {dataset: a/b}").stack == StackSpec("a/b", ("Cuda",))
    text = """
    stack:
      dataset: a/b
      configs: [data/Cuda]
      header_configs: [C, C++]
      revision: v2
      split: all
      exclude: ["vendor/*"]
      max_files: 500
      contents: s3://bucket/content
      endpoint: http://host:9000
      region: eu-central-1
      signed: true
      workers: 4
    """
    assert read(tmp_path, text).stack == StackSpec(
        "a/b",
        ("data/Cuda",),
        ("C", "C++"),
        "v2",
        "all",
        PathFilter(exclude=("vendor/*",)),
        500,
        BucketSettings("s3://bucket/content", "http://host:9000", "eu-central-1", True),
        4,
    )


@pytest.mark.parametrize("text", ["", "packages:\nrepositories: []\n"])
def test_an_empty_file_asks_for_nothing(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == SourcesConfig()


def test_the_default_configuration_is_pinned() -> None:
    config = read_sources(DEFAULT)
    assert len(config.packages) >= 3
    assert all(package.version for package in config.packages)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "cannot be read as YAML"),
        ("- x", r"sources.yaml: must have keys and values; keys: \['packages'"),
        ("package: []", "unknown key 'package'; keys:"),
        ("packages: x", "packages must be a list"),
        ("packages: [x]", r"packages\[0\]: must have keys and values"),
        ("packages: [{name: a}, {name: b, verison: '1'}]", r"packages\[1\]: unknown key 'verison'"),
        ("packages: [{version: '1'}]", "give the package's name"),
        ("packages: [{name: '../x'}]", "give the package's name"),
        ("packages: [{name: a, version: 1.10}]", 'version must be text; write version: "1.1"'),
        ("packages: [{name: a, version: '>=1'}]", "version '>=1' is not one"),
        ("packages: [{name: a, include: '*.cu'}]", "include must be a list of globs"),
        ("packages: [{name: a, licence: Ours}]", "licence 'Ours' is not SPDX"),
        ("stack: {configs: [Cuda]}", "stack: give the dataset"),
        ("stack: {dataset: a/b, configs: []}", "at least one of its configs"),
        ("stack: {dataset: a/b, configs: Cuda}", "configs must be a list of names"),
        ("stack: {dataset: a/b, max_files: 0}", "max_files must be a whole number above 0"),
        ("stack: {dataset: a/b, signed: 'no'}", "signed must be true or false"),
        ("stack: {dataset: a/b, bucket: x}", "unknown key 'bucket'"),
        ("stack: [a/b]", "stack: must have keys and values"),
        ("repositories: [{url: 'https://x/y'}]", "give both url and revision"),
        ("repositories: [{url: 'ext::sh -c id', revision: a}]", "must begin with one of"),
        ("repositories: [{url: 'https://x/y', revision: '--upload-pack=id'}]", "is no branch"),
        ("repositories: [{url: 'https://x/y', revision: 'a b'}]", "is no branch"),
    ],
)
def test_mistakes_are_named_with_their_place_and_remedy(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        read(tmp_path, text)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"gone\.yaml: cannot be read"):
        read_sources(tmp_path / "gone.yaml")


@pytest.mark.parametrize(
    "url",
    [
        *("--upload-pack=id", "ext::sh -c id", "a:b", "host:path", "ssh://-oProxyCommand=id/x"),
        *("https://x/\ny", "file:/x", "http://[x"),
    ],
)
def test_urls_that_are_not_handed_to_git(url: str) -> None:
    assert problem_with_url(url)

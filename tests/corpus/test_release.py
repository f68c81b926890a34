from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
import yaml

from cass_pipeline.corpus.card import FunnelStage, cell, size_category
from cass_pipeline.corpus.columns import KERNEL_COLUMNS, PAIR_COLUMNS
from cass_pipeline.corpus.engine import Engine
from cass_pipeline.corpus.notices import identifiers
from cass_pipeline.corpus.release import Release, ReleaseSettings, build_release, read_release
from cass_pipeline.corpus.shards import ShardSettings
from cass_pipeline.corpus.suites import Bounds, kernel_suite, pair_suite
from cass_pipeline.errors import InputError, StoreError
from cass_pipeline.records import PUBLISHED_KERNELS, PUBLISHED_PAIRS, SCHEMA_VERSION

from .samples import Row, kernel, pair, write_kernels, write_pairs

SETTINGS = ReleaseSettings(title="Sample pairs", schema_version=SCHEMA_VERSION)
# Small enough that 40 rows make several shards.
SMALL = replace(SETTINGS, shards=ShardSettings(shard_bytes=20_000, group_rows=4))
BOUNDS = Bounds(licences=("MIT",), sm_arches=("sm_80",), gfx_arches=("gfx1100",))

LOAD = """
import json, sys
from datasets import load_dataset
folder, config = sys.argv[1:]
rows = load_dataset(folder, *config.split(), split="train", cache_dir=folder + "-cache")
print(json.dumps(rows.to_list()))
"""


def released(
    folder: Path, engine: Engine, rows: list[Row], settings: ReleaseSettings = SMALL, files: int = 1
) -> Release:
    """A release of rows that come in a number of files; every pair has one kernel."""
    pairs = [
        write_pairs(folder / f"in-{files}" / f"pairs-{n}.parquet", rows[n::files])
        for n in range(files)
    ]
    kernels = [
        write_kernels(
            folder / f"in-{files}" / f"kernels-{n}.parquet",
            [kernel(row["pair_id"]) for row in rows[n::files]],
        )
        for n in range(files)
    ]
    funnel = [FunnelStage("raw_kernels", 60, 40, 15, 5)]
    suites = [pair_suite(BOUNDS), kernel_suite(BOUNDS)]
    return build_release(
        folder / "release", pairs, kernels, settings, engine, funnel=funnel, suites=suites
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def many(count: int = 40) -> list[Row]:
    """Rows that do not compress to nothing."""
    noise = random.Random(5)
    return [pair(f"p{n:02}", ptx=noise.randbytes(2000).hex()) for n in range(count)]


def test_a_release_holds_shards_card_notices_and_manifest(tmp_path: Path, engine: Engine) -> None:
    release = released(tmp_path, engine, [pair("a"), pair("b")])
    assert sorted(contents(release.folder)) == [
        "LICENSES",
        "NOTICE",
        "README.md",
        "data/kernels/train-00000-of-00001.parquet",
        "data/pairs/train-00000-of-00001.parquet",
        "manifest.json",
        "pair_index.parquet",
    ]
    assert release.rows == {"pairs": 2, "kernels": 2}


def test_rows_are_sorted_into_shards_of_the_target_size(tmp_path: Path, engine: Engine) -> None:
    rows = many()
    random.Random(1).shuffle(rows)
    release = released(tmp_path, engine, rows)
    shards = sorted((release.folder / "data" / "pairs").iterdir())
    assert len(shards) > 3
    assert shards[0].name == f"train-00000-of-{len(shards):05}.parquet"
    assert pl.read_parquet(shards)["pair_id"].to_list() == [f"p{n:02}" for n in range(40)]
    first = pq.ParquetFile(shards[0])
    assert first.schema_arrow.equals(PUBLISHED_PAIRS)
    assert first.metadata.row_group(0).num_rows == 4
    assert first.metadata.row_group(0).column(0).compression == "ZSTD"


def test_equal_rows_give_equal_bytes(tmp_path: Path, engine: Engine) -> None:
    rows = many()
    first = released(tmp_path / "first", engine, rows)
    random.Random(2).shuffle(rows)
    second = released(tmp_path / "second", replace(engine, threads=1), rows, files=3)
    assert contents(first.folder) == contents(second.folder)


def test_the_version_follows_the_data(tmp_path: Path, engine: Engine) -> None:
    first = released(tmp_path / "first", engine, [pair("a")])
    second = released(tmp_path / "second", engine, [pair("a", translator="rules-2")])
    assert first.version.startswith("v0.1.0+")
    assert len(first.version) == len("v0.1.0+") + 8
    assert first.version != second.version


def test_the_manifest_names_every_other_file(tmp_path: Path, engine: Engine) -> None:
    release = released(tmp_path, engine, many(10))
    manifest = json.loads((release.folder / "manifest.json").read_text(encoding="utf-8"))
    files = contents(release.folder)
    del files["manifest.json"]
    assert {file["path"]: file["sha256"] for file in manifest["files"]} == {
        path: hashlib.sha256(data).hexdigest() for path, data in files.items()
    }
    assert manifest["configs"]["pairs"]["rows"] == 10
    assert manifest["schema_version"] == SCHEMA_VERSION
    assert read_release(release.folder) == release


def test_a_new_release_replaces_the_old_one_whole(tmp_path: Path, engine: Engine) -> None:
    released(tmp_path, engine, many())
    release = released(tmp_path, engine, [pair("a")])
    assert len(list((release.folder / "data" / "pairs").iterdir())) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"in-1", "release", "scratch"}


def test_a_release_that_fails_leaves_the_old_one_alone(tmp_path: Path, engine: Engine) -> None:
    old = contents(released(tmp_path, engine, [pair("a")]).folder)
    with pytest.raises(InputError, match=r"two rows have the key \('b',\)"):
        released(tmp_path, engine, [pair("b"), pair("b")])
    assert contents(tmp_path / "release") == old
    assert {path.name for path in tmp_path.iterdir()} == {"in-1", "release", "scratch"}


def test_a_table_without_files_is_refused(tmp_path: Path, engine: Engine) -> None:
    with pytest.raises(InputError, match="'pairs' needs Parquet files"):
        build_release(tmp_path / "release", [], [], SETTINGS, engine)


def test_an_undescribed_column_is_refused(tmp_path: Path, engine: Engine) -> None:
    odd = tmp_path / "odd.parquet"
    pl.DataFrame({"pair_id": ["a"], "mystery": [1]}).write_parquet(odd)
    with pytest.raises(InputError, match="mystery"):
        build_release(tmp_path / "release", [odd], [odd], SETTINGS, engine)


def test_every_published_column_is_described() -> None:
    assert set(PAIR_COLUMNS) == set(PUBLISHED_PAIRS.names)
    assert set(KERNEL_COLUMNS) == set(PUBLISHED_KERNELS.names)


@pytest.mark.parametrize(("config", "name"), [("", "pairs"), ("kernels", "kernels")])
def test_datasets_loads_each_configuration(
    tmp_path: Path, engine: Engine, config: str, name: str
) -> None:
    release = released(tmp_path, engine, many(10))
    loaded = subprocess.run(
        [sys.executable, "-c", LOAD, str(release.folder), config],
        env={"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")},
        check=True,
        capture_output=True,
    )
    written = pq.read_table(sorted((release.folder / "data" / name).iterdir()))
    assert json.loads(loaded.stdout) == written.to_pylist()


def test_the_card_says_what_the_release_holds(tmp_path: Path, engine: Engine) -> None:
    rows = [pair("a"), pair("b", level="compiled", licence="Apache-2.0", domain="graph")]
    card = (released(tmp_path, engine, rows).folder / "README.md").read_text(encoding="utf-8")
    _, head, body = card.split("---\n", 2)
    assert yaml.safe_load(head)["configs"][0] == {
        "config_name": "pairs",
        "data_files": [{"split": "train", "path": "data/pairs/train-*.parquet"}],
        "default": True,
    }
    for line in (
        "| `pair_id` | `string` | Identity of the pair: a hash of its two sides and how they were"
        " made. |",
        "| `sass` | `list<struct<arch: string, listing: string>>` | NVIDIA device assembly, a"
        " normalised listing for each target. |",
        "| `compiled` | 1 | Both sides compiled. Nothing is known about what they compute. |",
        "| `raw_kernels` | 60 | 40 | 15 | 5 |",
        "| Apache-2.0 | 1 | 1 |",
        "| NVIDIA | `nvcc-13` | `-O3` |",
        "| graph | 1 |",
        "| `pair_id` | `ExpectColumnValuesToBeUnique` | critical | Every pair has an id of its"
        " own. |",
        'kernels = load_dataset("PATH_OR_REPOSITORY", "kernels", split="train")',
    ):
        assert line in body.splitlines()


def test_every_table_and_heading_of_the_card_stands_apart(tmp_path: Path, engine: Engine) -> None:
    """Markdown joins what no empty line divides."""
    card = (released(tmp_path, engine, [pair("a")]).folder / "README.md").read_text(
        encoding="utf-8"
    )
    lines = card.splitlines()
    for before, line in pairwise(lines):
        if line.startswith("#") or (line.startswith("|") and not before.startswith("|")):
            assert before == "", line


def test_notices_attribute_every_source(tmp_path: Path, engine: Engine) -> None:
    rows = [
        pair("a", source_path="a.cu"),
        pair("b", source_path="b.cu"),
        pair("c", source_name="other\nfake", licence="MIT OR Apache-2.0"),
    ]
    folder = released(tmp_path, engine, rows).folder
    notice = (folder / "NOTICE").read_text(encoding="utf-8")
    assert "vectors 1.0 (sdist)\nLicence: MIT\nFiles:\n  a.cu\n  b.cu\n" in notice
    assert "other fake 1.0 (sdist)\nLicence: MIT OR Apache-2.0\n" in notice
    listed = (folder / "LICENSES").read_text(encoding="utf-8")
    assert "MIT: 2 pairs from 1 sources" in listed
    assert "Apache-2.0: https://spdx.org/licenses/Apache-2.0.html" in listed


def test_licence_expressions_name_licences_and_exceptions() -> None:
    expression = "(MIT OR BSD-3-Clause) AND Apache-2.0 WITH LLVM-exception"
    assert identifiers(expression) == ["MIT", "BSD-3-Clause", "Apache-2.0", "LLVM-exception"]


def test_text_from_outside_cannot_break_a_table() -> None:
    assert cell("a|b\n| `c` <d>") == "a\\|b \\| 'c' &lt;d>"


@pytest.mark.parametrize(
    ("rows", "name"), [(0, "n<1K"), (1_000, "1K<n<10K"), (60_694, "10K<n<100K"), (10**8, "n>10M")]
)
def test_size_categories_are_those_of_the_hub(rows: int, name: str) -> None:
    assert size_category(rows) == name


def test_a_folder_without_manifest_is_no_release(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not a release folder"):
        read_release(tmp_path)

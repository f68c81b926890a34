from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cass_pipeline.corpus.sorting import sorted_tables
from cass_pipeline.errors import InputError
from cass_pipeline.records import PUBLISHED_PAIRS

from .samples import pair, write_pairs

KEYS = ["pair_id", "unit_id"]


@pytest.mark.parametrize("range_bytes", [1, 20_000, 1 << 30])
def test_rows_come_in_the_order_of_their_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, range_bytes: int
) -> None:
    monkeypatch.setattr("cass_pipeline.corpus.sorting._RANGE_BYTES", range_bytes)
    rows = [pair(f"{n:03}", ptx=random.Random(n).randbytes(500).hex()) for n in range(300)]
    expected = pa.Table.from_pylist(rows, schema=PUBLISHED_PAIRS)
    random.Random(3).shuffle(rows)
    paths = [write_pairs(tmp_path / f"{n}.parquet", rows[n::3]) for n in range(3)]
    tables = list(sorted_tables(paths, KEYS, PUBLISHED_PAIRS, tmp_path / "scratch"))
    assert pa.concat_tables(tables).equals(expected)
    assert (len(tables) > 1) == (range_bytes < 1 << 30)
    assert list((tmp_path / "scratch").iterdir()) == []


def test_no_rows_give_no_rows(tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "none.parquet", [])
    tables = list(sorted_tables([path], KEYS, pq.read_schema(path), tmp_path))
    assert [table.num_rows for table in tables] == [0]


def test_a_repeated_key_is_refused(tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "twice.parquet", [pair("a"), pair("b"), pair("a")])
    with pytest.raises(InputError, match=r"two rows have the key \('a', 'unit-a'\)"):
        list(sorted_tables([path], KEYS, PUBLISHED_PAIRS, tmp_path))

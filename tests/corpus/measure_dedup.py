"""Measures `distinct_pairs` on made pairs: `python -m tests.corpus.measure_dedup 70000 FOLDER`.

A quarter are exact duplicates, an eighth near-duplicates in small families, an eighth one huge
family that shares its boilerplate (every LSH band is hot), and half are unlike any other.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cass_pipeline.corpus.dedup import judge_sketches
from cass_pipeline.corpus.engine import Engine
from cass_pipeline.corpus.sketches import Similarity, sketch_pairs
from cass_pipeline.records import PUBLISHED_PAIRS

from .samples import Row, cuda_text, pair

LINES = 100
SHARDS = 7
KEYS = ("pair_id", "cuda_files", "cuda_main_path", "hip_files", "hip_main_path")
KEYS += ("cuda_kernels", "findings", "verification")


def lines(generator: random.Random, count: int) -> list[str]:
    """Random statements of about 14 tokens each."""
    return [
        f"v{generator.randrange(3000)}[i + {generator.randrange(64)}] = "
        f"f{generator.randrange(500)}(v{generator.randrange(3000)}, {generator.random():.3f}f);"
        for _ in range(count)
    ]


def made_pairs(count: int) -> Iterator[Row]:
    """Deterministic pairs in the proportions stated above."""
    boilerplate = lines(random.Random(0), LINES)
    for number in range(count):
        kind, group = number % 8, number // 8
        # Two numbers share a group where they are to be duplicates.
        own = random.Random(group // 2 if kind in (4, 5) else number)
        body = list(boilerplate) if kind == 7 else lines(own, own.randrange(LINES // 2, LINES * 2))
        if kind == 6:
            body = lines(random.Random(-(group // 10) - 1), LINES)
        if kind >= 6:
            for changed in lines(random.Random(number), 2):
                body[random.Random(changed).randrange(len(body))] = changed
        yield pair(f"{number:08x}", cuda_text(body="\n".join(body)))


def write_shards(folder: Path, count: int) -> list[Path]:
    """The made pairs in a few Parquet files."""
    schema = pa.schema([PUBLISHED_PAIRS.field(name) for name in KEYS])
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"pairs-{number}.parquet" for number in range(SHARDS)]
    writers = [pq.ParquetWriter(path, schema) for path in paths]
    rows = made_pairs(count)
    for number, batch in enumerate(iter(lambda: list(islice(rows, 500)), [])):
        writers[number % SHARDS].write_table(pa.Table.from_pylist(batch, schema=schema))
    for writer in writers:
        writer.close()
    return paths


def main() -> None:
    count, folder = int(sys.argv[1]), Path(sys.argv[2])
    engine = Engine(folder / "scratch", memory_limit="2GB", threads=2)
    paths = write_shards(folder, count)
    sketches = [path.with_suffix(".sketch") for path in paths]
    start = time.monotonic()
    for path, sketch in zip(paths, sketches, strict=True):
        sketch_pairs(path, sketch, Similarity(), engine)
    print(f"sketches: {time.monotonic() - start:.1f} s")
    start = time.monotonic()
    verdicts = judge_sketches(sketches, Similarity(), engine)
    print(f"verdicts: {time.monotonic() - start:.1f} s")
    print(verdicts.group_by("reason").len().sort("reason"))
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")
    print(f"sketches on disk: {sum(path.stat().st_size for path in sketches) / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()

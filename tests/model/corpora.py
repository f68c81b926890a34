"""A small corpus, written by hand, and what is made from it."""

from __future__ import annotations

from collections.abc import Sequence

from cass_pipeline.model.settings import ModelSettings, SetSettings
from cass_pipeline.model.splits import SPLITS, Shares, split_of
from cass_pipeline.outcomes import Verdict
from cass_pipeline.records import CORPUS, Row, verdict_columns
from cass_pipeline.stages.corpus import kernel_files, pair_files
from cass_pipeline.store import CorpusStore
from cass_pipeline.units import digest_of
from tests.corpus.samples import cuda_text, kernel, pair, write_kernels, write_pairs

TINY = ModelSettings(max_tokens=512, vocabulary=400, hidden_size=16, layers=1, heads=2)
SETTINGS = SetSettings(TINY, Shares(0.2, 0.2))


def sass_text(name: str, body: str = "MOV R1, R2 ;") -> str:
    return f"\t.entry {name}\n{name}:\n\t{body}\n\tEXIT ;\n"


def rdna3_text(name: str, body: str = "v_mov_b32_e32 v1, v2", function: int = 0) -> str:
    return f"{name}:\n\t{body}\n\ts_cbranch_execz .LBB{function}_2\n.LBB{function}_2:\n\ts_endpgm\n"


def clusters(split: str, number: int) -> list[str]:
    """Ids of clusters that lie in a split."""
    found = (f"cluster{n}" for n in range(10_000))
    ours = (name for name in found if split_of(name, SETTINGS.shares) == split)
    return [next(ours) for _ in range(number)]


def three_splits(train: int = 6, held_out: int = 2) -> list[tuple[Row, Row]]:
    """Pairs with one kernel each, in all splits."""
    rows = []
    for split in SPLITS:
        for cluster in clusters(split, train if split == "train" else held_out):
            rows.append(sample(cluster))
    return rows


def sample(cluster: str, number: int | None = None) -> tuple[Row, Row]:
    """A pair and its kernel; the number, by default the cluster's, stands in its code."""
    number = int(cluster.removeprefix("cluster")) if number is None else number
    name = f"_Z5scale{number}Pf"
    cuda = cuda_text(f"scale{number}", f"x[i] *= {number};")
    both = {"cluster_id": cluster}
    made = pair(f"pair-{cluster}", cuda, **both)
    code = {
        "sass": sass_text(name, f"FMUL R1, R2, {number} ;"),
        "rdna3": rdna3_text(name, f"v_mul_f32_e32 v1, {number}, v2", number),
    }
    return made, kernel(f"pair-{cluster}", name, demangled=f"scale{number}(float*)", **both, **code)


def write_corpus(store: CorpusStore, rows: Sequence[tuple[Row, Row]], key: str = "corpus") -> None:
    """The files of `corpus` and its table."""
    write_pairs(pair_files(store)[0], [pair_row for pair_row, _ in rows])
    write_kernels(kernel_files(store)[0], [kernel_row for _, kernel_row in rows])
    table = [
        {
            "key": digest_of(key, row["pair_id"]),
            **{name: row[name] for name in ("unit_id", "pair_id", "cluster_id")},
            **verdict_columns(Verdict.kept()),
        }
        for row, _ in rows
    ]
    store.table("corpus", CORPUS).replace(table, key)

"""`hip_kernels`: each unit translated to HIP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cass_pipeline.fanout import Fanout
from cass_pipeline.outcomes import Verdict
from cass_pipeline.records import (
    COLLECTED,
    HIP_KERNELS,
    Row,
    cuda_tree_of,
    files_column,
    findings_column,
    verdict_columns,
)
from cass_pipeline.stage import Log, StageReport, Work, run_stage
from cass_pipeline.store import CorpusStore
from cass_pipeline.translate.interface import Translator
from cass_pipeline.units import digest_of

BATCH_SIZE = 32


@dataclass(frozen=True)
class _Translate:
    translator: Translator

    def __call__(self, row: Row) -> Row:
        translation = self.translator.translate(cuda_tree_of(row))
        return {
            **verdict_columns(Verdict.kept()),
            "hip_id": translation.tree.digest(),
            "hip_files": files_column(translation.tree.files),
            "hip_main_path": translation.tree.main_path,
            "hip_include_dirs": list(translation.tree.include_dirs),
            "translator": self.translator.fingerprint,
            "findings": findings_column(translation.findings),
        }


def update(store: CorpusStore, translator: Translator, fanout: Fanout, log: Log) -> StageReport:
    """Translates every unit of `raw_kernels` that this translator has not seen.

    What could not be translated is a finding, not a reason to drop the unit: the AMD compiler is
    the judge of the result.
    """
    units = store.table("raw_kernels", COLLECTED)
    key_of = {
        unit_id: digest_of("hip_kernels", translator.fingerprint, unit_id)
        for unit_id in units.kept(["unit_id"])["unit_id"].to_pylist()
    }

    def load(todo: set[str]) -> Iterator[Work]:
        columns = ["unit_id", "outcome", "files", "main_path", "include_dirs"]
        for row in units.rows(columns, kept_only=True):
            key = key_of[row["unit_id"]]
            if key in todo:
                yield Work(key, row["unit_id"], row)

    return run_stage(
        store.table("hip_kernels", HIP_KERNELS),
        list(key_of.values()),
        load,
        _Translate(translator),
        fanout,
        batch_size=BATCH_SIZE,
        log=log,
    )

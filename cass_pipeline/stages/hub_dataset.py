"""`hub_dataset`: the release folder, and its upload where a repository is configured."""

from __future__ import annotations

import shutil
from pathlib import Path

from cass_pipeline import records
from cass_pipeline.corpus.card import FunnelStage
from cass_pipeline.corpus.engine import Engine
from cass_pipeline.corpus.hub import HubRelease, HubTarget, LocalRelease, publish
from cass_pipeline.corpus.release import ReleaseSettings, build_release
from cass_pipeline.corpus.suites import Suite
from cass_pipeline.errors import StoreError
from cass_pipeline.ledger import read_ledger
from cass_pipeline.outcomes import Outcome
from cass_pipeline.stage import Log
from cass_pipeline.stages.corpus import kernel_files, pair_files
from cass_pipeline.store import CorpusStore, write_atomically
from cass_pipeline.units import digest_of

TITLE = "CASS pairs: CUDA, HIP, SASS and RDNA3"


def update(
    store: CorpusStore, target: HubTarget, suites: list[Suite], engine: Engine, log: Log
) -> LocalRelease | HubRelease:
    """Builds the release of the current corpus, unless it is there, and publishes it.

    Raises:
        ConfigurationError: the Hub refuses the token or the repository.
        InfrastructureError: the Hub cannot be reached; the release folder stays.
    """
    folder = release_folder(store)
    funnel = [
        FunnelStage(
            stage.stage,
            stage.rows_in,
            *(stage.outcomes.get(outcome.value, 0) for outcome in Outcome),
        )
        for stage in read_ledger(store).stages
    ]
    settings = ReleaseSettings(title=TITLE, schema_version=records.SCHEMA_VERSION)
    content_key = digest_of(_corpus_key(store), repr(funnel), repr(settings), repr(suites))
    marker = store.root / "release.key"
    if not folder.is_dir() or not marker.exists() or marker.read_text() != content_key:
        log(f"building the release in {folder}")
        marker.unlink(missing_ok=True)
        for leftover in folder.parent.glob(f".{folder.name}-*"):
            shutil.rmtree(leftover, ignore_errors=True)  # of a killed run: each a whole dataset
        pairs, kernels = pair_files(store), kernel_files(store)
        build_release(folder, pairs, kernels, settings, engine, funnel, suites)
        write_atomically(marker, content_key.encode())
    return publish(folder, target)


def release_folder(store: CorpusStore) -> Path:
    """Where the release is."""
    return store.root / "release"


def _corpus_key(store: CorpusStore) -> str:
    key = store.table("corpus", records.CORPUS).manifest().content_key
    if not key:
        raise StoreError("there is no corpus yet; materialize `corpus` first")
    return key

"""`hub_dataset`: the release folder, its date and changelog, and its upload where configured."""

from __future__ import annotations

import shutil
from datetime import date
from functools import partial
from pathlib import Path

from cass_pipeline import records
from cass_pipeline.corpus.card import FunnelStage
from cass_pipeline.corpus.edition import Editor
from cass_pipeline.corpus.engine import Engine
from cass_pipeline.corpus.hub import HubRelease, HubTarget, LocalRelease, publish
from cass_pipeline.corpus.release import (
    ReleaseSettings,
    build_release,
    read_release,
    verify_release,
)
from cass_pipeline.corpus.suites import Suite
from cass_pipeline.errors import StoreError
from cass_pipeline.ledger import read_ledger
from cass_pipeline.outcomes import Outcome
from cass_pipeline.stage import Log
from cass_pipeline.stages import removals
from cass_pipeline.stages.corpus import kernel_files, pair_files
from cass_pipeline.store import CorpusStore, write_atomically
from cass_pipeline.units import digest_of

TITLE = "CASS pairs: CUDA, HIP, SASS and RDNA3"


def update(
    store: CorpusStore,
    target: HubTarget,
    suites: list[Suite],
    engine: Engine,
    today: date,
    log: Log,
) -> LocalRelease | HubRelease:
    """Builds the release of the current corpus, unless it is there, dates and publishes it.

    A corpus without news since the last release gives no new release.

    Args:
        store: the tables, locked.
        target: where to publish.
        suites: what was validated, for the card.
        engine: limits of sorting and counting.
        today: the date of a new release.
        log: told about progress.

    Raises:
        ConfigurationError: the Hub refuses the token or the repository.
        InfrastructureError: the Hub cannot be reached; the release folder stays.
    """
    folder = release_folder(store)
    settings = ReleaseSettings(title=TITLE, schema_version=records.SCHEMA_VERSION)
    content_key = digest_of(_corpus_key(store), repr(settings), repr(suites))
    marker = store.root / "release.key"
    current = marker.exists() and marker.read_text() == content_key
    if not current or not _is_sound(folder):
        log(f"building the release in {folder}")
        marker.unlink(missing_ok=True)
        for leftover in folder.parent.glob(f".{folder.name}-*"):
            shutil.rmtree(leftover, ignore_errors=True)  # of a killed run: each a whole dataset
        pairs, kernels = pair_files(store), kernel_files(store)
        build_release(folder, pairs, kernels, settings, engine, _funnel(store), suites)
        write_atomically(marker, content_key.encode())
    explain = partial(removals.explain, store)
    return publish(Editor(folder, changelog_folder(store), today, explain), target, log)


def release_folder(store: CorpusStore) -> Path:
    """Where the release is."""
    return store.root / "release"


def changelog_folder(store: CorpusStore) -> Path:
    """Where `CHANGELOG.md` is, and what else the next release needs of the last one."""
    return store.root / "changelog"


def _is_sound(folder: Path) -> bool:
    """Whether the release is whole: a run may have been killed while it was dated."""
    try:
        verify_release(read_release(folder))
    except StoreError:
        return False
    return True


def _funnel(store: CorpusStore) -> list[FunnelStage]:
    return [
        FunnelStage(
            stage.stage,
            stage.rows_in,
            *(stage.outcomes.get(outcome.value, 0) for outcome in Outcome),
        )
        for stage in read_ledger(store).stages
        if stage.stage != "training_set"  # made from the release, not for it
    ]


def _corpus_key(store: CorpusStore) -> str:
    key = store.table("corpus", records.CORPUS).manifest().content_key
    if not key:
        raise StoreError("there is no corpus yet; materialize `corpus` first")
    return key

"""Shared by the tests that publish."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from cass_pipeline.corpus.edition import Editor
from cass_pipeline.corpus.hub import HubRelease, HubTarget, publish
from cass_pipeline.corpus.release import Release

from .samples import Row
from .test_release import contents

DAY = date(2026, 12, 5)


def no_reason(removed: Sequence[Row], added: Sequence[Row]) -> dict[str, str]:
    return {row["pair_id"]: "a test" for row in removed}


def editor_of(release: Release, today: date = DAY) -> Editor:
    """An editor that keeps its history beside the release folder."""
    return Editor(release.folder, release.folder.with_name("changelog"), today, no_reason)


def publish_to(target: HubTarget, release: Release, today: date = DAY) -> HubRelease:
    """Publishes a release folder to a Hub."""
    published = publish(editor_of(release, today), target, print)
    assert isinstance(published, HubRelease)
    return published


def contents_to_publish(release: Release) -> set[str]:
    return set(contents(release.folder))

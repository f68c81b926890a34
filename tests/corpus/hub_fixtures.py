"""Fixtures around the test Hub: import them into a test module or a conftest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cass_pipeline.corpus.hub import HubTarget
from cass_pipeline.corpus.hub_errors import Patience

from .hub_server import TOKEN, Hub, serve

REPOSITORY = "tester/pairs"
IMPATIENT = Patience(attempts=3, first_wait=0.01, longest_wait=2)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A Hub of one's own. The client is told what `HF_HUB_DISABLE_XET=1` tells it at its start."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    with serve() as running:
        yield running


@pytest.fixture
def target(hub: Hub) -> HubTarget:
    """A repository on it that does not exist yet."""
    return HubTarget(REPOSITORY, TOKEN, hub.endpoint, patience=IMPATIENT)

"""The one Definitions object: every asset, check, resource, job and schedule."""

from __future__ import annotations

import dagster as dg

from assets import collection, compilation, corpus, ledger, training, translation, verification
from resources import (
    EngineResource,
    FanoutResource,
    HubResource,
    ModelResource,
    OptOutsResource,
    StoreResource,
    ToolchainsResource,
)

GROUPS = [collection, translation, compilation, verification, corpus, training, ledger]

refresh_corpus = dg.define_asset_job(
    "refresh_corpus",
    selection=dg.AssetSelection.all(),
    description="Brings the whole chain up to date; does only what is new.",
)

nightly = dg.ScheduleDefinition(
    name="refresh_corpus_nightly",
    job=refresh_corpus,
    cron_schedule="0 2 * * *",
    execution_timezone="UTC",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="At 02:00 UTC. A night with nothing new takes seconds.",
)

_store = StoreResource(root=dg.EnvVar("CASS_HOME"))

defs = dg.Definitions(
    assets=dg.load_assets_from_modules(GROUPS),
    asset_checks=dg.load_asset_checks_from_modules(GROUPS),
    jobs=[refresh_corpus],
    schedules=[nightly],
    resources={
        "store": _store,
        "fanout": FanoutResource(),
        "engine": EngineResource(store=_store),
        "toolchains": ToolchainsResource(),
        "hub": HubResource(),
        "model": ModelResource(),
        "opt_outs": OptOutsResource(),
    },
    # Stages spread over the machine by themselves; a process for each asset would only cost time.
    executor=dg.in_process_executor,
)

"""The graph that people see: a change of a name, a check or the schedule must be meant."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

from cass_pipeline.definitions import defs
from cass_pipeline.ledger import STAGES

GRAPH = {
    "local_kernels": ("collection", set()),
    "repository_kernels": ("collection", set()),
    "sdist_kernels": ("collection", set()),
    "stack_kernels": ("collection", set()),
    "raw_kernels": (
        "collection",
        {"local_kernels", "repository_kernels", "sdist_kernels", "stack_kernels"},
    ),
    "hip_kernels": ("translation", {"raw_kernels"}),
    "cuda_objects": ("compilation", {"hip_kernels"}),
    "hip_objects": ("compilation", {"hip_kernels"}),
    "executions": ("verification", {"cuda_objects", "hip_objects"}),
    "verified_pairs": ("verification", {"executions"}),
    "distinct_pairs": ("corpus", {"verified_pairs"}),
    "corpus": ("corpus", {"distinct_pairs"}),
    "hub_dataset": ("corpus", {"corpus"}),
    "training_set": ("training", {"corpus"}),
    "stage_ledger": ("ledger", {"corpus", "training_set"}),
}
CHECKS = {
    ("corpus", "pairs_are_valid"),
    ("corpus", "kernels_are_valid"),
    ("hub_dataset", "release_matches_its_manifest"),
    ("training_set", "splits_share_nothing"),
    ("stage_ledger", "every_row_is_accounted_for"),
}


@pytest.fixture(scope="module")
def graph() -> dg.AssetGraph:
    return defs.resolve_asset_graph()


def test_assets_groups_and_dependencies(graph: dg.AssetGraph) -> None:
    found = {
        key.to_user_string(): (
            graph.get(key).group_name,
            {parent.to_user_string() for parent in graph.get(key).parent_keys},
        )
        for key in graph.get_all_asset_keys()
    }
    assert found == GRAPH


def test_checks_stop_what_comes_after_them(graph: dg.AssetGraph) -> None:
    keys = graph.asset_check_keys
    assert {(key.asset_key.to_user_string(), key.name) for key in keys} == CHECKS
    assert all(graph.get_check_spec(key).blocking for key in keys)


def test_every_asset_says_what_it_decides_and_why(graph: dg.AssetGraph) -> None:
    for key in graph.get_all_asset_keys():
        description = graph.get(key).description
        assert description, key
        assert len(description) > 60, key


def test_every_stage_of_the_ledger_is_an_asset() -> None:
    assert set(STAGES) | {"hub_dataset", "stage_ledger"} == set(GRAPH)


def test_the_nightly_refresh_runs_without_being_switched_on() -> None:
    (schedule,) = (
        defs.resolve_all_schedule_defs()
        if hasattr(defs, "resolve_all_schedule_defs")
        else [defs.resolve_schedule_def("refresh_corpus_nightly")]
    )
    assert schedule.name == "refresh_corpus_nightly"
    assert schedule.cron_schedule == "0 2 * * *"
    assert schedule.execution_timezone == "UTC"
    assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING
    assert schedule.job_name == "refresh_corpus"


def test_a_tick_requests_one_run_of_the_whole_chain() -> None:
    schedule = defs.resolve_schedule_def("refresh_corpus_nightly")
    with dg.build_schedule_context(
        scheduled_execution_time=datetime(2026, 1, 1, 2, tzinfo=UTC),
        repository_def=defs.get_repository_def(),
    ) as context:
        data = schedule.evaluate_tick(context)
    assert data.run_requests is not None
    assert len(data.run_requests) == 1
    nodes = defs.resolve_job_def("refresh_corpus").graph.node_dict
    assert set(GRAPH) <= set(nodes)


def test_loading_the_definitions_imports_nothing_heavy() -> None:
    """CPU time, since wall time depends on what else the machine does."""
    script = (
        "import sys, resource, cass_pipeline.definitions\n"
        "heavy = {'torch', 'datasets', 'great_expectations', 'pandas', 'matplotlib', 'sklearn'}\n"
        "heavy |= {'boto3', 'transformers', 'tokenizers', 'accelerate', 'sacrebleu'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
        "usage = resource.getrusage(resource.RUSAGE_SELF)\n"
        "print(usage.ru_utime + usage.ru_stime)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True
    )
    heavy, seconds = done.stdout.splitlines()
    assert heavy == "[]"
    assert float(seconds) < 4


def test_the_library_does_not_need_dagster() -> None:
    root = Path(__file__).parents[2] / "cass_pipeline"
    users = [
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if "import dagster" in path.read_text() or "from dagster" in path.read_text()
    ]
    assert users == ["definitions.py"]

"""The whole chain, started as users start it, with the real compilers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cass_pipeline.ledger import read_ledger
from cass_pipeline.store import CorpusStore
from tests.checkout import Checkout, kill_9

pytestmark = pytest.mark.usefixtures("toolchain_cache")

KERNELS = 6


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout with a few programs, after one uninterrupted run."""
    checkout = Checkout.make(tmp_path_factory.mktemp("finished") / "checkout")
    for number in range(KERNELS):
        checkout.kernel(number)
    code, output = checkout.run()
    assert code == 0, output[-3000:]
    return checkout


def counts(checkout: Checkout) -> dict[str, dict[str, int]]:
    ledger = read_ledger(CorpusStore(checkout.home))
    assert ledger.lost == ()
    return {stage.stage: stage.outcomes for stage in ledger.stages}


def read_release(folder: Path) -> dict[str, Any]:
    """What a stranger's Python reads; a process of its own, because of its caches."""
    script = (
        "import json, sys, datasets\n"
        "rows = datasets.load_dataset(sys.argv[1], split='train', cache_dir=sys.argv[2])\n"
        "kernels = datasets.load_dataset(sys.argv[1], 'kernels', split='train', "
        "cache_dir=sys.argv[2])\n"
        "print(json.dumps({'pairs': rows['source_path'], 'kernels': kernels['kernel'], "
        "'levels': sorted({v['level'] for v in rows['verification']})}, default=list))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder), str(folder.parent / "datasets-cache")],
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_every_program_becomes_a_pair_that_load_dataset_reads(finished: Checkout) -> None:
    assert counts(finished)["verified_pairs"] == {"kept": KERNELS}
    read = read_release(finished.home / "release")
    assert len(read["pairs"]) == counts(finished)["corpus"]["kept"] == KERNELS
    assert read["levels"] == ["compiled"]
    assert len(read["kernels"]) == 2 * KERNELS  # for sm_80 and sm_90


def test_history_survives_in_the_home_folder(finished: Checkout) -> None:
    assert (finished.home / "dagster" / "history" / "runs.db").exists()
    assert not list(finished.folder.glob(".tmp_dagster_home*"))


def test_a_second_run_with_nothing_new_computes_nothing(finished: Checkout) -> None:
    tables, release = finished.files("tables"), finished.files("release")
    code, output = finished.run()
    assert code == 0
    assert not re.search(r"\d+/\d+ done", output)
    after = finished.files("tables")
    assert {name for name in after if name.endswith(".parquet")} == {
        name for name in tables if name.endswith(".parquet")
    }
    assert finished.files("release") == release


def waiting_for(path: Path, pattern: str, process: subprocess.Popen[str]) -> None:
    while not list(path.glob(pattern)):
        assert process.poll() is None, process.communicate()[0][-3000:]
        time.sleep(0.02)


def test_kill_9_at_any_point_costs_only_what_was_in_flight(
    finished: Checkout, tmp_path: Path
) -> None:
    checkout = Checkout.make(tmp_path / "checkout")
    for number in range(KERNELS):
        checkout.kernel(number)
    tables = checkout.home / "tables"
    for pattern in (
        "hip_kernels/part-*",
        "cuda_objects/part-*",
        "hip_objects/part-*",
        "verified_pairs/manifest.json",
        "corpus/manifest.json",
    ):
        process = checkout.start()
        waiting_for(tables, pattern, process)
        kill_9(process)
        done = {path: path.stat().st_ino for path in tables.glob("*_objects/part-*.parquet")}
    code, output = checkout.run()
    assert code == 0, output[-3000:]
    assert {path: path.stat().st_ino for path in done} == done
    assert checkout.undated_release() == finished.undated_release()
    assert_nothing_runs_in(checkout.folder)


def running_in(folder: Path) -> list[bytes]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and Path(os.readlink(entry / "cwd")).is_relative_to(folder):
                found.append((entry / "cmdline").read_bytes())
        except OSError:
            continue
    return found


def assert_nothing_runs_in(folder: Path) -> None:
    """What a killed run started ends by itself, if not in the same instant."""
    for _ in range(200):
        if not running_in(folder):
            return
        time.sleep(0.1)
    raise AssertionError(running_in(folder))


def test_two_runs_at_once_give_the_same_corpus(finished: Checkout, tmp_path: Path) -> None:
    checkout = Checkout.make(tmp_path / "checkout")
    for number in range(KERNELS):
        checkout.kernel(number)
    # Two programs that set up Dagster's history at the same moment fail in its migrations, before
    # anything of ours runs; so the second starts when the first is at work (docs/configuration.md).
    one = checkout.start()
    waiting_for(checkout.home, "tables/*", one)
    other = checkout.start()
    outputs = [process.communicate()[0] for process in (one, other)]
    assert [one.returncode, other.returncode] == [0, 0], outputs
    assert any("; waiting for it" in output for output in outputs)
    assert checkout.undated_release() == finished.undated_release()


def test_a_removed_file_leaves_the_corpus(finished: Checkout, tmp_path: Path) -> None:
    checkout = Checkout.make(tmp_path / "checkout")
    checkout.kernel(1)
    checkout.kernel(2)
    assert checkout.run()[0] == 0
    (checkout.local / "add_1.cu").unlink()
    code, _ = checkout.run()
    assert code == 0
    assert counts(checkout)["verified_pairs"] == {"kept": 1}
    assert len(read_release(checkout.home / "release")["pairs"]) == 1


def test_an_invalid_corpus_stops_the_command_and_is_not_released(tmp_path: Path) -> None:
    checkout = Checkout.make(tmp_path / "checkout")
    path = checkout.kernel(1)
    path.write_text(path.read_text().split("\n", 1)[1])  # without its SPDX line
    (checkout.folder / "run.yaml").write_text(
        "ops: {raw_kernels: {config: {allow_unknown_licence: true}}}\n"
    )
    code, output = checkout.run("-c", "run.yaml")
    assert code == 1
    assert "pairs_are_valid" in output
    assert "The licence is one of the permitted ones." in output
    assert not (checkout.home / "release").exists()
    assert (checkout.home / "reports" / "pairs.html").exists()

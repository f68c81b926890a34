"""Fingerprints follow contents, and are cheap once known."""

from __future__ import annotations

import os
import time
from pathlib import Path

from cass_pipeline.toolchain.amd import LocalClangToolchain
from cass_pipeline.toolchain.fingerprint import fingerprint
from cass_pipeline.toolchain.local import local_amd, local_nvidia
from cass_pipeline.toolchain.nvidia import LocalNvccToolchain


def _tree(folder: Path, text: str) -> Path:
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "header.h").write_text(text)
    (folder / "program").write_text("x")
    return folder


def test_equal_contents_agree_wherever_they_are(tmp_path: Path) -> None:
    one, two = _tree(tmp_path / "one", "a"), _tree(tmp_path / "two", "a")
    os.utime(two / "program", (1, 1))
    cache = tmp_path / "cache"
    assert fingerprint([one], ["v1"], cache) == fingerprint([two], ["v1"], cache / "other")
    assert fingerprint([one], ["v1"], cache) != fingerprint([one], ["v2"], cache)


def test_a_changed_renamed_or_added_file_changes_it(tmp_path: Path) -> None:
    tree, cache, seen = _tree(tmp_path / "tree", "a"), tmp_path / "cache", set[str]()
    seen.add(fingerprint([tree], (), cache))
    (tree / "sub" / "header.h").write_text("b longer")
    seen.add(fingerprint([tree], (), cache))
    (tree / "sub" / "header.h").rename(tree / "sub" / "other.h")
    seen.add(fingerprint([tree], (), cache))
    (tree / "new").touch()
    seen.add(fingerprint([tree], (), cache))
    assert len(seen) == 4


def test_a_damaged_store_is_made_anew(tmp_path: Path) -> None:
    tree, cache = _tree(tmp_path / "tree", "a"), tmp_path / "cache"
    before = fingerprint([tree], (), cache)
    (cache / "fingerprints.json").write_text("{not json")
    assert fingerprint([tree], (), cache) == before


def test_the_two_toolchains(
    toolchain_cache: Path,
    nvidia_toolchain: LocalNvccToolchain,
    amd_toolchain: LocalClangToolchain,
) -> None:
    started = time.process_time()
    again = (local_nvidia(toolchain_cache), local_amd(toolchain_cache))
    assert time.process_time() - started < 1
    assert [toolchain.fingerprint for toolchain in again] == [
        nvidia_toolchain.fingerprint,
        amd_toolchain.fingerprint,
    ]
    assert nvidia_toolchain.fingerprint != amd_toolchain.fingerprint
    assert len(amd_toolchain.fingerprint) == 64

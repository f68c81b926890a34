"""Broken and hostile input: the run finishes, every file has its reason, nothing is executed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cass_pipeline.ledger import read_ledger
from cass_pipeline.store import CorpusStore
from tests.checkout import KERNEL, Checkout

pytestmark = pytest.mark.usefixtures("toolchain_cache")

HEAD = "// SPDX-License-Identifier: MIT\n"
BODY = "__global__ void k(int *out) { out[threadIdx.x] = threadIdx.x; }\n"
PADDING = "".join(f"int unused_{number};\n" for number in range(6))

ENDLESS_TEMPLATE = """
template <unsigned long N, unsigned long M> struct Tree {
    static constexpr unsigned long value =
        Tree<N - 1, 2 * M>::value + Tree<N - 1, 2 * M + 1>::value;
};
template <unsigned long M> struct Tree<0, M> { static constexpr unsigned long value = M; };
__device__ unsigned long sum() { return Tree<40, 1>::value; }
"""

TEXTS: dict[str, tuple[bytes, str]] = {
    "empty.cu": (b"", "empty"),
    "blank.cu": (b" \n\t\n", "empty"),
    "binary.cu": (b"\x7fELF\0\0\1" * 50, "undecodable"),
    "huge.cu": (b"// padding\n" * (5 << 20), "too_large"),
    "passwd.cu": ((HEAD + '#include "/etc/passwd"\n' + BODY).encode(), "include_outside_tree"),
    "climb.cu": (
        (HEAD + '#include "../../../../etc/passwd"\n' + BODY).encode(),
        "include_outside_tree",
    ),
    "no_kernel.cu": ((HEAD + "int f() { return 1; }\n" + PADDING).encode(), "no_kernel"),
    "no_licence.cu": ((BODY + PADDING).encode(), "licence_unknown"),
    "copyleft.cu": (
        ("// SPDX-License-Identifier: GPL-3.0-only\n" + BODY + PADDING).encode(),
        "licence_not_permitted",
    ),
    "computed_passwd.cu": (
        (HEAD + '#define F "/etc/passwd"\n#include F\n' + BODY + PADDING).encode(),
        "missing_header",
    ),
    "missing.cu": (
        (HEAD + "#include <torch/extension.h>\n" + BODY + PADDING).encode(),
        "missing_header",
    ),
    "broken.cu": ((HEAD + BODY + "this is not C++;\n" + PADDING).encode(), "compile_error"),
    "endless.cu": ((HEAD + ENDLESS_TEMPLATE + BODY + PADDING).encode(), "time_limit"),
    "$(touch pwned);`touch pwned`&touch pwned.cu": (KERNEL.format(number=1).encode(), ""),
    "-o pwned.cu": (KERNEL.format(number=2).encode(), ""),
    "quote'\"and\nline.cu": (KERNEL.format(number=3).encode(), ""),
}
"""Content by file name, and the reason it must get; an empty reason is a pair or its duplicate."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Checkout, str]:
    checkout = Checkout.make(tmp_path_factory.mktemp("hostile") / "checkout")
    for name, (data, _) in TEXTS.items():
        (checkout.local / name).write_bytes(data)
    os.symlink("/etc/passwd", checkout.local / "link.cu")
    (checkout.folder / "run.yaml").write_text(
        "resources: {toolchains: {config: {cpu_seconds: 10}}}\n"
    )
    code, output = checkout.run("-c", "run.yaml")
    assert code == 0, output[-3000:]
    return checkout, output


def fates(checkout: Checkout) -> dict[str, str]:
    rows = read_ledger(CorpusStore(checkout.home)).fates
    return {row["source_path"]: row["reason"] or "" for row in rows}


@pytest.mark.parametrize(
    "name", [name for name, (_, reason) in TEXTS.items() if reason], ids=lambda name: name
)
def test_each_file_has_its_reason(run: tuple[Checkout, str], name: str) -> None:
    found = fates(run[0])
    assert found[name] == TEXTS[name][1]


def test_a_link_out_of_the_folder_is_refused(run: tuple[Checkout, str]) -> None:
    assert fates(run[0])["link.cu"] == "path_escapes"


def test_names_that_a_shell_would_run_are_only_names(run: tuple[Checkout, str]) -> None:
    checkout, _ = run
    found = fates(checkout)
    for name, (_, reason) in TEXTS.items():
        if not reason:
            assert found[name] in {"", "near_duplicate", "exact_duplicate"}, name
    assert not list(checkout.folder.rglob("pwned"))
    assert not Path("pwned").exists()


def test_nothing_of_the_machine_is_in_the_evidence(run: tuple[Checkout, str]) -> None:
    rows = read_ledger(CorpusStore(run[0].home)).fates
    evidence = "\n".join(row["evidence"] or "" for row in rows)
    assert "root:" not in evidence
    assert str(run[0].folder) not in evidence


def test_no_row_is_lost(run: tuple[Checkout, str]) -> None:
    ledger = read_ledger(CorpusStore(run[0].home))
    assert ledger.lost == ()
    assert len(ledger.fates) == len(TEXTS) + 1

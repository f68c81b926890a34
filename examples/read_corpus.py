"""Reads a release with `datasets.load_dataset`, as anyone who uses the corpus would.

    python examples/read_corpus.py [FOLDER]

FOLDER is a release folder; without it, the one that `make demo` writes. A Hub repository's name
works the same way.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from datasets import load_dataset


def main() -> None:
    """Prints what both configurations of the release hold, and one kernel on both sides."""
    home = Path(os.environ.get("CASS_HOME", "var"))
    folder = sys.argv[1] if len(sys.argv) > 1 else str(home / "release")
    with tempfile.TemporaryDirectory() as cache:
        pairs = load_dataset(folder, split="train", cache_dir=cache)
        kernels = load_dataset(folder, "kernels", split="train", cache_dir=cache)
        print(f"{folder}: {len(pairs)} pairs, {len(kernels)} kernels")
        print("columns of a pair:", ", ".join(pairs.column_names))
        if len(kernels):
            kernel = min(kernels, key=lambda row: len(row["sass"]) + len(row["rdna3"]))
            print(f"\nthe smallest kernel, {kernel['demangled']}, for {kernel['sm_arch']}:")
            print(kernel["sass"])
            print(f"and for {kernel['gfx_arch']}:")
            print(kernel["rdna3"])


if __name__ == "__main__":
    main()

"""A small checkout to run the pipeline in: the instance's files, few sources, its own home."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent

KERNEL = """\
// SPDX-License-Identifier: MIT
// Adds {number} to every element.
__global__ void add_{number}(int n, int *values) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {{
        values[i] += {number};
    }}
}}

int main() {{
    int *values;
    cudaMalloc(&values, 64 * sizeof(int));
    add_{number}<<<1, 64>>>(64, values);
    return cudaDeviceSynchronize() != cudaSuccess;
}}
"""


@dataclass
class Checkout:
    """A folder that `dagster` is started in, as a user would."""

    folder: Path
    extra_env: dict[str, str] = field(default_factory=dict)

    @classmethod
    def make(cls, folder: Path, sources: str = "packages: []\n") -> Checkout:
        """The files that Dagster reads from the checkout, and a list of sources."""
        (folder / "config").mkdir(parents=True)
        (folder / "examples" / "cuda").mkdir(parents=True)
        for name in ("dagster.yaml", "workspace.yaml", ".env"):
            shutil.copy(ROOT / name, folder / name)
        (folder / "config" / "sources.yaml").write_text(sources)
        (folder / "config" / "opt_outs.yaml").write_text("opt_outs: []\n")
        return cls(folder)

    @property
    def local(self) -> Path:
        """The folder that `local_kernels` collects."""
        return self.folder / "examples" / "cuda"

    @property
    def home(self) -> Path:
        """Where everything is written."""
        return self.folder / "var"

    @property
    def env(self) -> dict[str, str]:
        """The environment of a user who set nothing."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CASS_")}
        kept.pop("DAGSTER_HOME", None)
        return kept | {"PATH": f"{BIN}:{kept['PATH']}"} | self.extra_env

    def start(self, *options: str, select: str = "*") -> subprocess.Popen[str]:
        """`dagster asset materialize`, in a process group of its own."""
        return subprocess.Popen(
            [
                *("dagster", "asset", "materialize", "--select", select),
                *("-m", "cass_pipeline.definitions", *options),
            ],
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *options: str, select: str = "*") -> tuple[int, str]:
        """Exit code and output of one run to its end."""
        process = self.start(*options, select=select)
        output, _ = process.communicate()
        return process.returncode, output

    def kernel(self, number: int, name: str | None = None) -> Path:
        """Adds a small program to the local folder."""
        path = self.local / (name or f"add_{number}.cu")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(KERNEL.format(number=number))
        return path

    def files(self, folder: str) -> dict[str, bytes]:
        """Content of every file below a folder of the home."""
        root = self.home / folder
        return {
            path.relative_to(root).as_posix(): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }

    def undated_release(self) -> dict[str, bytes]:
        """What depends on the programs alone: a test may run over midnight."""
        dated = {"CHANGELOG.md", "README.md", "manifest.json"}
        return {path: data for path, data in self.files("release").items() if path not in dated}


def kill_9(process: subprocess.Popen[str]) -> None:
    """Kills the process alone: what it started must end by itself."""
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()

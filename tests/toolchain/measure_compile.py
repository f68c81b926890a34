"""CPU seconds of compiling one small unit, by step: `python -m tests.toolchain.measure_compile`."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import platformdirs

from cass_pipeline.execute.sandbox import Completed, Limits, Sandbox
from cass_pipeline.toolchain.interface import CompileSettings, Toolchain
from cass_pipeline.toolchain.local import local_amd, local_nvidia, local_sandbox
from tests.toolchain.programs import PATIENT, SAXPY_CUDA, SAXPY_HIP, unit

REPEATS = 5


@dataclass(frozen=True)
class RecordingSandbox(Sandbox):
    """Notes the CPU seconds of each program."""

    steps: list[tuple[str, float]] = field(default_factory=list)

    def run(
        self,
        argv: Sequence[str],
        *,
        work_dir: Path,
        read_only: Sequence[Path] = (),
        env: Mapping[str, str],
        limits: Limits,
        stdin: bytes = b"",
    ) -> Completed:
        """As `Sandbox.run`."""
        done = super().run(
            argv, work_dir=work_dir, read_only=read_only, env=env, limits=limits, stdin=stdin
        )
        name = Path(argv[0]).name
        side = next((part for part in argv if part.startswith("--cuda-")), "")
        self.steps.append((f"{name} {side}".strip(), done.cpu_seconds))
        return done


def measure(toolchain: Toolchain, text: str, steps: list[tuple[str, float]], arches: str) -> None:
    """Prints medians over some compilations of the same unit."""
    settings = CompileSettings(arches=tuple(arches.split()), limits=PATIENT)
    runs = []
    for _ in range(REPEATS + 1):
        steps.clear()
        toolchain.compile(unit(text), settings)
        runs.append(list(steps))
    # The first run may have made precompiled headers.
    runs = runs[1:]
    total = statistics.median(sum(seconds for _, seconds in run) for run in runs)
    print(f"{arches}: {total:.2f} CPU s")
    for at, (name, _) in enumerate(runs[0]):
        print(f"    {name}: {statistics.median(run[at][1] for run in runs):.2f}")


def main() -> None:
    """Measures both sides."""
    cache = Path(platformdirs.user_cache_dir("cass_pipeline"))
    plain = local_sandbox(cache)
    sandbox = RecordingSandbox(plain.bwrap, plain.note)
    nvidia, amd = local_nvidia(cache, sandbox=sandbox), local_amd(cache, sandbox=sandbox)
    measure(nvidia, SAXPY_CUDA, sandbox.steps, "sm_80")
    measure(nvidia, SAXPY_CUDA, sandbox.steps, "sm_80 sm_90")
    measure(amd, SAXPY_HIP, sandbox.steps, "gfx1100")
    print("without precompiled headers:")
    measure(replace(amd, precompiled=None), SAXPY_HIP, sandbox.steps, "gfx1100")


if __name__ == "__main__":
    main()

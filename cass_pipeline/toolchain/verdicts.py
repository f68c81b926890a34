"""What a compiler's end means for the unit: a table over its diagnostics, read in order."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cass_pipeline.execute.sandbox import Completed, LimitHit, Limits
from cass_pipeline.outcomes import Reason, Verdict
from cass_pipeline.toolchain.interface import CompileLimits

EVIDENCE_LINES = 20

_LIMITS = {
    LimitHit.CPU: Reason.TIME_LIMIT,
    LimitHit.WALL: Reason.STALLED,
    LimitHit.MEMORY: Reason.MEMORY_LIMIT,
    LimitHit.FILE: Reason.OUTPUT_LIMIT,
    LimitHit.OUTPUT: Reason.OUTPUT_LIMIT,
    LimitHit.PROCESSES: Reason.COMPILER_CRASH,
}


@dataclass(frozen=True)
class Sign:
    """A pattern that gives a reason; its group, if any, is what the evidence starts with."""

    reason: Reason
    pattern: re.Pattern[str]


SIGNS: tuple[Sign, ...] = (
    # gcc, clang, and the EDG front end of cudafe++ and cicc.
    Sign(Reason.MISSING_HEADER, re.compile(r"error: (.+): No such file or directory")),
    Sign(Reason.MISSING_HEADER, re.compile(r"error: '(.+)' file not found")),
    Sign(Reason.MISSING_HEADER, re.compile(r'error: cannot open source file "(.+)"')),
    Sign(Reason.COMPILER_CRASH, re.compile(r"internal compiler error|internal error:")),
    Sign(Reason.COMPILER_CRASH, re.compile(r"PLEASE submit a (?:full )?bug report")),
    Sign(Reason.COMPILER_CRASH, re.compile(r"died due to signal|unable to execute command")),
    Sign(Reason.COMPILER_CRASH, re.compile(r"Segmentation fault|core dumped")),
    # ptxas and lld.
    Sign(Reason.UNRESOLVED_SYMBOL, re.compile(r"Unresolved extern \w+ '(.+)'")),
    Sign(Reason.UNRESOLVED_SYMBOL, re.compile(r"error: undefined (?:\w+ )?symbol: (.+)")),
)

_ERROR_LINE = re.compile(r"\b(?:error|fatal)\b", re.IGNORECASE)


def sandbox_limits(limits: CompileLimits, *, prints_artefact: bool = False) -> Limits:
    """The same bounds in the sandbox's words.

    Args:
        limits: bounds of one compiler run.
        prints_artefact: the program prints what would else be a file (a disassembler does).
    """
    return Limits(
        cpu_seconds=limits.cpu_seconds,
        wall_seconds=limits.wall_seconds,
        memory_bytes=limits.memory_bytes,
        file_bytes=limits.file_bytes,
        output_bytes=limits.file_bytes if prints_artefact else Limits.output_bytes,
    )


def verdict_of(done: Completed, messages: str) -> Verdict | None:
    """The verdict of a compiler that failed; None where it succeeded.

    Args:
        done: how the process ended.
        messages: its diagnostics, cleaned of temporary names.
    """
    if done.limit is not None:
        evidence = f"limit reached: {done.limit.value}\n{_first_errors(messages)}"
        return Verdict.because(_LIMITS[done.limit], evidence)
    if done.returncode == 0:
        return None
    for sign in SIGNS:
        if found := sign.pattern.search(messages):
            subject = f"{found[1]}\n" if found.groups() else ""
            return Verdict.because(sign.reason, subject + _first_errors(messages))
    if done.returncode < 0:
        return Verdict.because(
            Reason.COMPILER_CRASH, f"signal {-done.returncode}\n{_first_errors(messages)}"
        )
    return Verdict.because(Reason.COMPILE_ERROR, _first_errors(messages))


def _first_errors(messages: str) -> str:
    """From the first error on, some lines; all of it starts where no line says error."""
    lines = messages.strip().splitlines()
    start = next((at for at, line in enumerate(lines) if _ERROR_LINE.search(line)), 0)
    return "\n".join(lines[start : start + EVIDENCE_LINES])

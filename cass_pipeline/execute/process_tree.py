"""What /proc says about this process's descendants. Standard library only, for the supervisor."""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path

_ticks = os.sysconf("SC_CLK_TCK")
_page = os.sysconf("SC_PAGE_SIZE")


class Descendants:
    """What the last look at the process tree found, with the peaks of all looks."""

    def __init__(self) -> None:
        self.pids: list[int] = []
        self.cpu_seconds = 0.0
        self.resident_bytes = 0
        self.peak_address_space = 0

    def look(self) -> None:
        """Reads /proc once; processes that vanish meanwhile are left out (an undercount)."""
        stats: dict[int, list[str]] = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit() and (fields := _stat_fields(int(entry))):
                stats[int(entry)] = fields
        children: dict[int, list[int]] = {}
        for pid, fields in stats.items():
            children.setdefault(int(fields[1]), []).append(pid)
        self.pids = []
        waiting = [os.getpid()]
        while waiting:
            found = children.get(waiting.pop(), [])
            self.pids += found
            waiting += found
        cpu_seconds = reaped_cpu_seconds()
        self.resident_bytes = 0
        for pid in self.pids:
            fields = stats[pid]
            cpu_seconds += sum(map(int, fields[11:15])) / _ticks
            self.resident_bytes += _private_bytes(pid)
            self.peak_address_space = max(self.peak_address_space, int(fields[20]))
        self.cpu_seconds = max(self.cpu_seconds, cpu_seconds)


def _stat_fields(pid: int) -> list[str] | None:
    """Fields 3 and up of /proc/PID/stat, see proc_pid_stat(5); None once it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1")
    except OSError:
        return None
    return text[text.rindex(")") + 2 :].split()


def _private_bytes(pid: int) -> int:
    """Resident memory that no file backs."""
    with contextlib.suppress(OSError, ValueError):
        _, resident, shared = Path(f"/proc/{pid}/statm").read_text().split()[:3]
        return (int(resident) - int(shared)) * _page
    return 0


def reaped_cpu_seconds() -> float:
    """CPU time of all descendants that were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def out_of_memory_kills() -> int:
    """How often this machine's kernel killed a process for want of memory, since boot."""
    lines: list[str] = []
    with contextlib.suppress(OSError):
        lines = Path("/proc/vmstat").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)

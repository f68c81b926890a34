"""The bubblewrap command line that isolates one untrusted program: bwrap(1), 0.8 or newer."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

STATUS_FD, GATE_FD = 100, 101
"""Inherited file descriptors: bubblewrap reports on the first, and waits on the second before it
starts the program."""

UNPRIVILEGED_ID = 65534
"""User and group inside ("nobody")."""

SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
"""Shown besides /usr, of which they are a part on most systems."""

LOADER_FILES = ("/etc/alternatives", "/etc/ld.so.cache")
"""What programs of /usr need of /etc: links between them, and where libraries lie."""


def bwrap_argv(
    bwrap: Path,
    *,
    work_dir: Path,
    read_only: Sequence[Path],
    env: Mapping[str, str],
    tmp_bytes: int,
) -> list[str]:
    """Everything before `--` and the program.

    A user namespace alone would not hide files: where the caller is root, the program still
    is root to the file system. So nothing is visible but what is mounted here, and only
    `work_dir` and /tmp can be written.

    Args:
        bwrap: the program.
        work_dir: absolute path of the folder that is writable, and current.
        read_only: files and folders shown at their own paths.
        env: the whole environment of the program.
        tmp_bytes: room in /tmp, which is memory.
    """
    argv = [str(bwrap), "--unshare-user", "--unshare-all", "--disable-userns"]
    argv += ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    argv += ["--uid", str(UNPRIVILEGED_ID), "--gid", str(UNPRIVILEGED_ID)]
    argv += ["--json-status-fd", str(STATUS_FD), "--block-fd", str(GATE_FD)]
    argv += ["--hostname", "sandbox", "--clearenv"]
    argv += [part for name, value in env.items() for part in ("--setenv", name, value)]
    argv += ["--ro-bind", "/usr", "/usr"]
    for name in SYSTEM_FOLDERS:
        if Path(name).is_symlink():
            argv += ["--symlink", os.readlink(name), name]
        elif Path(name).exists():
            argv += ["--ro-bind", name, name]
    for name in LOADER_FILES:
        argv += ["--ro-bind-try", name, name]
    argv += ["--proc", "/proc", "--dev", "/dev"]
    argv += ["--size", str(tmp_bytes), "--tmpfs", "/tmp"]  # noqa: S108 (its own)
    mounts = [("--ro-bind", path.absolute()) for path in read_only] + [("--bind", work_dir)]
    # Outer folders first: a mount hides whatever was mounted below its path before.
    for option, path in sorted(mounts, key=lambda mount: len(mount[1].parts)):
        argv += [option, str(path), str(path)]
    return [*argv, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(work_dir)]

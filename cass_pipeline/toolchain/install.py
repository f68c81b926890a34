"""Installs what the compilers need into a cache folder, and says what is there.

    report = install(cache, progress=print)
    report = status(cache)

A cache holds one folder a component (`hip/`, `cuda-headers/`, ...). A folder appears whole, by
renaming, and carries the hash of the pins it was made from; other pins make it anew.
"""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files, version
from pathlib import Path

from cass_pipeline.errors import ToolchainError
from cass_pipeline.toolchain import debian, wheels
from cass_pipeline.toolchain.fetch import full_disk_explained
from cass_pipeline.toolchain.packages import (
    Component,
    DebianComponent,
    PackageTable,
    SystemTool,
    package_table,
)

Progress = Callable[[str], None]

_MARKER = ".pin"
_INSTALL = "run `cass toolchain install`"
_NVIDIA_EXTRA = "pip install 'cass_pipeline[nvidia]'"


@dataclass(frozen=True)
class ComponentStatus:
    """One part of the toolchains: whether it is there, and what to do if not."""

    name: str
    purpose: str
    present: bool
    version: str
    path: Path | None
    remedy: str
    """Empty where the component is present."""


@dataclass(frozen=True)
class Report:
    """State of every component."""

    components: tuple[ComponentStatus, ...]

    @property
    def complete(self) -> bool:
        """Whether both vendors' code can be compiled."""
        return not self.missing

    @property
    def missing(self) -> tuple[ComponentStatus, ...]:
        """The components that are not there."""
        return tuple(component for component in self.components if not component.present)


def install(
    cache: Path,
    *,
    debian_mirror: str | None = None,
    progress: Progress = lambda line: None,
    table: PackageTable | None = None,
) -> Report:
    """Fetches and unpacks what is missing; what is there is left alone.

    Two installs into one cache at a time are safe: the second waits for the first.

    Args:
        cache: folder to install into; made if needed.
        debian_mirror: base URL of a Debian archive; None asks the machine's apt.
        progress: called with one line a step.
        table: what to install; None for the table shipped with this package.

    Raises:
        ConfigurationError: no Debian archive is configured.
        ToolchainError: a download failed, did not match its pin, or did not fit.
    """
    table = table or package_table()
    with full_disk_explained(cache), _locked(cache):
        for component in table.components:
            if not _wanted(component) or _is_current(cache, component):
                continue
            progress(f"{component.name} {component.version}: {component.purpose}")
            _install_component(cache, component, debian_mirror)
    return status(cache, table=table)


def status(cache: Path, *, table: PackageTable | None = None) -> Report:
    """What is installed; reads the disk only."""
    table = table or package_table()
    return Report(
        (
            *(_component_status(cache, component) for component in table.components),
            *(_wheel_status(name) for name in table.wheel_tools),
            *(_system_status(tool) for tool in table.system_tools),
        )
    )


def require_system_tool(command: str) -> Path:
    """Path of a command of the table.

    Raises:
        ToolchainError: it is not installed; names the package to install.
    """
    tool = package_table().system_tool(command)
    found = _located(tool)
    if found is None:
        raise ToolchainError(
            f"{command} is missing ({tool.purpose}): apt-get install {tool.package}"
        )
    return found


def find_bwrap(cache: Path) -> Path | None:
    """bubblewrap on PATH, or else the one in the cache, or None."""
    found = shutil.which("bwrap")
    unpacked = cache / "bubblewrap" / "usr" / "bin" / "bwrap"
    return Path(found) if found else unpacked.absolute() if unpacked.exists() else None


def component_folder(cache: Path, name: str) -> Path:
    """Folder of an installed component.

    Raises:
        ToolchainError: it is not installed, or from other pins than this version's.
    """
    component = package_table().component(name)
    if not _is_current(cache, component):
        raise ToolchainError(f"{name} ({component.purpose}) is not in {cache}: {_INSTALL}")
    return (cache / name).absolute()


def cuda_folder() -> Path:
    """Folder that the NVIDIA compiler wheels share.

    Raises:
        ToolchainError: a wheel is missing; names the extra to install.
    """
    missing = [name for name in package_table().wheel_tools if not _wheel_status(name).present]
    if missing:
        raise ToolchainError(f"{', '.join(missing)} missing: {_NVIDIA_EXTRA}")
    nvcc = next((file for file in files("nvidia-cuda-nvcc") or () if file.name == "nvcc"), None)
    if nvcc is None:
        raise ToolchainError(f"nvidia-cuda-nvcc holds no nvcc: {_NVIDIA_EXTRA}")
    return Path(str(nvcc.locate())).resolve().parent.parent


def _install_component(cache: Path, component: Component, mirror: str | None) -> None:
    target = cache / component.name
    with tempfile.TemporaryDirectory(dir=cache, prefix=f".{component.name}-") as name:
        root = Path(name) / "new"
        root.mkdir()
        if isinstance(component, DebianComponent):
            downloads = cache / "downloads"
            debian.unpack(component.packages, debian.mirror_url(mirror), downloads, root)
        else:
            wheels.unpack_headers(component.wheels, root / "include")
        (root / _MARKER).write_text(component.pin)
        if target.exists():
            target.rename(Path(name) / "old")
        root.rename(target)
    shutil.rmtree(cache / "downloads", ignore_errors=True)


def _wanted(component: Component) -> bool:
    command = component.command if isinstance(component, DebianComponent) else None
    return command is None or shutil.which(command) is None


def _is_current(cache: Path, component: Component) -> bool:
    marker = cache / component.name / _MARKER
    return marker.is_file() and marker.read_text() == component.pin


@contextmanager
def _locked(cache: Path) -> Iterator[None]:
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _component_status(cache: Path, component: Component) -> ComponentStatus:
    command = component.command if isinstance(component, DebianComponent) else None
    found = shutil.which(command) if command else None
    present = found is not None or _is_current(cache, component)
    where = Path(found) if found else cache / component.name
    return ComponentStatus(
        name=component.name,
        purpose=component.purpose,
        present=present,
        version="system" if found else component.version,
        path=where if present else None,
        remedy="" if present else _INSTALL,
    )


def _wheel_status(name: str) -> ComponentStatus:
    try:
        found = version(name)
    except PackageNotFoundError:
        found = ""
    return ComponentStatus(
        name=name,
        purpose="compiles CUDA",
        present=bool(found),
        version=found,
        path=None,
        remedy="" if found else _NVIDIA_EXTRA,
    )


def _system_status(tool: SystemTool) -> ComponentStatus:
    path = _located(tool)
    return ComponentStatus(
        name=tool.package,
        purpose=tool.purpose,
        present=path is not None,
        version="",
        path=path,
        remedy="" if path else f"apt-get install {tool.package}   ({tool.purpose})",
    )


def _located(tool: SystemTool) -> Path | None:
    """The tool on PATH, or at one of its usual places."""
    candidates = map(shutil.which, (tool.command, *tool.paths))
    return next((Path(found) for found in candidates if found), None)

"""The pinned table of what a toolchain installation consists of, as typed records."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

from cass_pipeline.units import digest_of


@dataclass(frozen=True)
class DebianPackage:
    """One pinned `.deb`."""

    path: str
    """Path below the mirror's base URL."""
    sha256: str

    @property
    def file_name(self) -> str:
        """Last part of the path."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class DebianComponent:
    """Debian packages that are unpacked into one folder of the cache."""

    name: str
    version: str
    purpose: str
    packages: tuple[DebianPackage, ...]
    command: str | None = None
    """A command that makes the component unnecessary where it is on PATH."""

    @property
    def pin(self) -> str:
        """Hash over everything that is pinned; an unpacked folder carries it."""
        return digest_of(self.name, *(p.path + p.sha256 for p in self.packages))


@dataclass(frozen=True)
class PinnedWheel:
    """One wheel whose headers are read."""

    name: str
    version: str
    record_sha256: str


@dataclass(frozen=True)
class HeaderComponent:
    """Headers of several wheels, unpacked into one folder of the cache."""

    name: str
    version: str
    purpose: str
    wheels: tuple[PinnedWheel, ...]

    @property
    def pin(self) -> str:
        """Hash over everything that is pinned; an unpacked folder carries it."""
        pins = (f"{w.name}=={w.version} {w.record_sha256}" for w in self.wheels)
        return digest_of(self.name, *pins)


Component = DebianComponent | HeaderComponent
"""What becomes one folder of the cache."""


@dataclass(frozen=True)
class SystemTool:
    """A command that only the machine's package manager installs."""

    command: str
    package: str
    purpose: str
    paths: tuple[str, ...]


@dataclass(frozen=True)
class PackageTable:
    """Everything that `packages.yaml` says."""

    debian: tuple[DebianComponent, ...]
    headers: tuple[HeaderComponent, ...]
    wheel_tools: tuple[str, ...]
    system_tools: tuple[SystemTool, ...]

    @property
    def components(self) -> tuple[Component, ...]:
        """Everything that is unpacked into the cache."""
        return (*self.debian, *self.headers)

    def component(self, name: str) -> Component:
        """The component of that name."""
        return next(part for part in self.components if part.name == name)

    def system_tool(self, command: str) -> SystemTool:
        """The tool with that command."""
        return next(tool for tool in self.system_tools if tool.command == command)


@cache
def package_table() -> PackageTable:
    """The table shipped with this package."""
    text = files(__package__).joinpath("packages.yaml").read_text(encoding="utf-8")
    raw = yaml.safe_load(text)
    return PackageTable(
        debian=tuple(
            DebianComponent(
                name=name,
                version=entry["version"],
                purpose=entry["purpose"],
                packages=tuple(DebianPackage(**package) for package in entry["packages"]),
                command=entry.get("command"),
            )
            for name, entry in raw["debian"].items()
        ),
        headers=tuple(
            HeaderComponent(
                name=name,
                version=entry["version"],
                purpose=entry["purpose"],
                wheels=tuple(PinnedWheel(**wheel) for wheel in entry["wheels"]),
            )
            for name, entry in raw["wheel_headers"].items()
        ),
        wheel_tools=tuple(raw["wheel_tools"]),
        system_tools=tuple(
            SystemTool(**{**tool, "paths": tuple(tool["paths"])}) for tool in raw["system_tools"]
        ),
    )

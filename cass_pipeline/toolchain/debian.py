"""Debian packages, found on the machine's own mirror and unpacked without root."""

from __future__ import annotations

import subprocess
from pathlib import Path
from urllib.parse import urljoin

from cass_pipeline.errors import ConfigurationError, ToolchainError
from cass_pipeline.toolchain.fetch import download
from cass_pipeline.toolchain.packages import DebianPackage

_APT_TARGETS = ("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages")


def mirror_url(setting: str | None) -> str:
    """Base URL of a Debian archive: the setting, or the first one that apt is configured with.

    Args:
        setting: value of `debian_mirror`; None asks apt.

    Raises:
        ConfigurationError: no setting, and apt knows no Debian archive.
    """
    if setting:
        return setting.rstrip("/") + "/"
    for uri in _apt_uris():
        if uri.endswith("/debian/") and uri.startswith(("http://", "https://", "file:/")):
            return uri
    raise ConfigurationError(
        "apt is configured with no Debian archive: set `debian_mirror` to the base URL of one "
        "(the folder that holds `dists/` and `pool/`)"
    )


def unpack(packages: tuple[DebianPackage, ...], mirror: str, downloads: Path, root: Path) -> None:
    """Fetches each package into `downloads` and unpacks all of them below `root`.

    Raises:
        ToolchainError: a package cannot be fetched or unpacked.
    """
    for package in packages:
        archive = downloads / package.file_name
        download(urljoin(mirror, package.path), archive, package.sha256)
        done = _run(("dpkg-deb", "-x", str(archive), str(root)))
        if done.returncode != 0:
            raise ToolchainError(f"dpkg-deb cannot unpack {archive}: {done.stderr.strip()}")


def _apt_uris() -> list[str]:
    try:
        return sorted(set(_run(_APT_TARGETS).stdout.split()))
    except ToolchainError:
        return []


def _run(command: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise ToolchainError(
            f"{command[0]} is not on PATH: it comes with Debian and its relatives; "
            "elsewhere use the toolchain in a container"
        ) from error

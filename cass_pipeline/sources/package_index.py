"""Find and download a package's source distribution; what arrives is not looked into here.

`pip download` runs the package's build code to learn its metadata. The finder of PDM (`unearth`)
only reads the index, so it is used instead, with pip's settings.
"""

from __future__ import annotations

import hashlib
import os
import ssl
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cass_pipeline.errors import ConfigurationError
from cass_pipeline.outcomes import Reason
from cass_pipeline.sources.candidate import RejectedError
from cass_pipeline.sources.config import PackageSpec
from cass_pipeline.sources.pip_settings import IndexSettings
from cass_pipeline.sources.settings import ArchiveLimits, FetchLimits

if TYPE_CHECKING:
    from unearth import Link, PackageFinder
    from unearth.fetchers import PyPIClient

ARCHIVE_SUFFIXES = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip")
_CHUNK = 2**16
_STRONG_FIRST = ("sha512", "sha384", "sha256", "sha224", "sha1", "md5")


@dataclass(frozen=True)
class FoundPackage:
    """A source distribution that lies in the cache."""

    version: str
    archive: Path


class PackageIndex:
    """The configured index, asked through one connection."""

    def __init__(
        self, finder: PackageFinder, session: PyPIClient, limits: FetchLimits, most_bytes: int
    ) -> None:
        self._finder = finder
        self._session = session
        self._limits = limits
        self._most_bytes = most_bytes

    def fetch(self, spec: PackageSpec, cache: Path) -> FoundPackage:
        """The package's source distribution, from `cache` where its version is pinned and there.

        Raises:
            RejectedError: SOURCE_UNAVAILABLE (unknown package, no source distribution, no answer,
                wrong hash) or ARCHIVE_LIMIT.
            OSError: the cache cannot be written.
        """
        shelf = cache / canonical_name(spec.name)
        if spec.version and (archive := _archive_in(shelf / spec.version)):
            return FoundPackage(spec.version, archive)
        version, link = self._find(spec)
        if archive := _archive_in(shelf / version):
            return FoundPackage(version, archive)
        return FoundPackage(version, self._download(link, shelf / version))

    def _find(self, spec: PackageSpec) -> tuple[str, Link]:
        from httpx2 import HTTPError, InvalidURL
        from packaging.version import Version

        requirement = f"{spec.name}=={spec.version}" if spec.version else spec.name
        try:
            best = self._finder.find_best_match(requirement).best
        except (HTTPError, InvalidURL, OSError, ValueError) as error:
            evidence = f"{requirement}: {type(error).__name__}: {error}"
            raise RejectedError(Reason.SOURCE_UNAVAILABLE, evidence) from error
        if best is None or best.version is None:
            evidence = f"{requirement}: the index has no source distribution of it"
            raise RejectedError(Reason.SOURCE_UNAVAILABLE, evidence)
        if not best.link.filename.endswith(ARCHIVE_SUFFIXES):
            evidence = f"{best.link.filename}: not one of {' '.join(ARCHIVE_SUFFIXES)}"
            raise RejectedError(Reason.ARCHIVE_UNREADABLE, evidence)
        return str(Version(best.version)), best.link

    def _download(self, link: Link, folder: Path) -> Path:
        from httpx2 import HTTPError, InvalidURL

        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".unfinished-", dir=folder)
        unfinished = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                for chunk in self._chunks(link):
                    file.write(chunk)
            _check_hash(unfinished, link)
            return unfinished.rename(folder / link.filename)
        except (HTTPError, InvalidURL) as error:
            evidence = f"{link.redacted}: {type(error).__name__}: {error}"
            raise RejectedError(Reason.SOURCE_UNAVAILABLE, evidence) from error
        finally:
            unfinished.unlink(missing_ok=True)

    def _chunks(self, link: Link) -> Iterator[bytes]:
        deadline = time.monotonic() + self._limits.download_seconds
        done = 0
        # What the hash was taken of is not to be packed once more on its way.
        headers = {"Accept-Encoding": "identity"}
        with self._session.get_stream(link.normalized, headers=headers) as response:
            response.raise_for_status()
            for chunk in response.iter_raw(_CHUNK):
                done += len(chunk)
                if done > self._most_bytes:
                    evidence = f"{link.redacted}: more than {self._most_bytes} bytes"
                    raise RejectedError(Reason.ARCHIVE_LIMIT, evidence)
                if time.monotonic() > deadline:
                    evidence = f"{link.redacted}: no end after {self._limits.download_seconds:g} s"
                    raise RejectedError(Reason.SOURCE_UNAVAILABLE, evidence)
                yield chunk


def canonical_name(name: str) -> str:
    """The one spelling of a package's name, by the specification of names."""
    from packaging.utils import canonicalize_name

    return canonicalize_name(name)


@contextmanager
def package_index(
    settings: IndexSettings, fetch: FetchLimits, archive: ArchiveLimits
) -> Iterator[PackageIndex]:
    """The index of `settings`, with its connection open in the block.

    Raises:
        ConfigurationError: the certificate file cannot be read, or nothing is to be searched.
    """
    from unearth import PackageFinder
    from unearth.auth import MultiDomainBasicAuth
    from unearth.fetchers import PyPIClient

    indexes = [settings.index_url] if settings.index_url and not settings.no_index else []
    extra = [] if settings.no_index else list(settings.extra_index_url)
    links = [link for link in settings.find_links if "://" in link or Path(link).exists()]
    if settings.no_index and not links:
        raise ConfigurationError("pip is set to no-index without find-links: nothing to search")
    with PyPIClient(
        trusted_hosts=settings.trusted_host,
        verify=_certificates(settings.cert),
        timeout=fetch.http_seconds,
        proxy=settings.proxy,
        follow_redirects=True,
    ) as session:
        session.auth = MultiDomainBasicAuth(prompting=False, index_urls=[*indexes, *extra])
        # Without an index of its own the finder takes its default, as pip does.
        finder = PackageFinder(
            session,  # type: ignore[arg-type]
            index_urls=indexes,
            find_links=links if settings.no_index else (),
            trusted_hosts=settings.trusted_host,
            ignore_compatibility=True,
            no_binary=[":all:"],
        )
        for url in extra:
            finder.add_index_url(url)
        for url in () if settings.no_index else links:
            finder.add_find_links(url)
        yield PackageIndex(finder, session, fetch, archive.archive_bytes)


def _certificates(cert: str | None) -> ssl.SSLContext | bool:
    if cert is None:
        return True
    try:
        return ssl.create_default_context(cafile=cert)
    except (OSError, ssl.SSLError) as error:
        raise ConfigurationError(f"pip's setting cert={cert!r} cannot be read: {error}") from error


def _archive_in(folder: Path) -> Path | None:
    """The complete archive in `folder`: an unfinished one has a name that begins with a dot."""
    found = sorted(folder.glob("[!.]*")) if folder.is_dir() else []
    return found[0] if found else None


def _check_hash(file: Path, link: Link) -> None:
    stated = link.hash_option or {}
    name = next((name for name in _STRONG_FIRST if name in stated), None)
    if name is None:
        return
    with file.open("rb") as stream:
        actual = hashlib.file_digest(stream, name).hexdigest()
    if actual not in stated[name]:
        evidence = f"{link.redacted}: {name} is {actual}, the index says {stated[name][0]}"
        raise RejectedError(Reason.SOURCE_UNAVAILABLE, evidence)

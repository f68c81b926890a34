"""CUDA in git repositories, each fetched at one commit and nothing else.

Cache: `<cache>/<hash of URL>/<commit>.git` is a bare repository that is complete, since it is
renamed into place after the fetch. A revision that is a full commit hash found there needs no
network; a branch or tag is asked for its commit, and fetched if that is new.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path

from cass_pipeline.outcomes import Reason
from cass_pipeline.sources.candidate import Candidate, RejectedError
from cass_pipeline.sources.collect import TreeSource, collect_tree
from cass_pipeline.sources.config import RepositorySpec, problem_with_url
from cass_pipeline.sources.git import run_git
from cass_pipeline.sources.git_tree import git_tree
from cass_pipeline.sources.settings import FetchLimits, UnitLimits
from cass_pipeline.units import digest_of

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def collect_repositories(
    repositories: Iterable[RepositorySpec],
    cache: Path,
    *,
    limits: UnitLimits | None = None,
    fetch_limits: FetchLimits | None = None,
) -> Iterator[Candidate]:
    """One candidate for each `.cu` file of each repository, or one for a repository as a whole.

    `cache` is a folder of this function's own; it is made if need be. A repository that cannot be
    fetched is SOURCE_UNAVAILABLE and stops no other.
    """
    cache.mkdir(parents=True, exist_ok=True)
    for spec in repositories:
        yield from _collect(spec, cache, limits or UnitLimits(), fetch_limits or FetchLimits())


def _collect(
    spec: RepositorySpec, cache: Path, limits: UnitLimits, fetch_limits: FetchLimits
) -> Iterator[Candidate]:
    name = without_credentials(spec.url)
    about = TreeSource("repository", name, spec.revision, spec.licence)
    try:
        commit, git_dir = fetched(spec, cache, fetch_limits)
        about = TreeSource("repository", name, commit, spec.licence)
        with git_tree(git_dir, commit, fetch_limits) as tree:
            yield from collect_tree(tree, about, spec.paths, limits)
    except RejectedError as rejected:
        evidence = rejected.verdict.evidence.replace(spec.url, name)
        yield Candidate.because(about.origin(), rejected.reason, evidence)
    except OSError as error:
        yield Candidate.because(about.origin(), Reason.SOURCE_UNAVAILABLE, str(error))
    except Exception:
        yield Candidate.because(about.origin(), Reason.INTERNAL_ERROR, traceback.format_exc())


def fetched(spec: RepositorySpec, cache: Path, limits: FetchLimits) -> tuple[str, Path]:
    """The commit that the revision stands for, and the bare repository that holds it.

    Raises:
        RejectedError: the URL is refused, the repository or the revision cannot be fetched, or it
            is too large.
        OSError: the cache cannot be written, or git does not start.
    """
    if problem := problem_with_url(spec.url):
        raise RejectedError(Reason.SOURCE_UNAVAILABLE, f"{spec.url} {problem}")
    shelf = cache / digest_of(spec.url)[:32]
    shelf.mkdir(exist_ok=True)
    commit, name = spec.revision, spec.revision
    if not _COMMIT.fullmatch(spec.revision):
        commit, name = _resolved(spec, shelf, limits)
    place = shelf / f"{commit}.git"
    if not place.is_dir():
        _fetch(spec.url, name, commit, place, limits)
    return commit, place


def without_credentials(url: str) -> str:
    """`url` without user name and password, to be written into the corpus."""
    return re.sub(r"(?<=://)[^/]*@", "", url)


def _resolved(spec: RepositorySpec, shelf: Path, limits: FetchLimits) -> tuple[str, str]:
    """Commit and full name of a branch or tag; of an annotated tag, the commit behind it."""
    revision = spec.revision
    names = [f"refs/tags/{revision}^{{}}", f"refs/tags/{revision}", f"refs/heads/{revision}"]
    if revision == "HEAD" or revision.startswith("refs/"):
        names = [f"{revision}^{{}}", revision]
    listing = run_git(shelf / "none.git", "ls-remote", "--", spec.url, *names, limits=limits)
    commits = {name: commit for commit, name in _two_columns(listing)}
    for name in names:
        if _COMMIT.fullmatch(commits.get(name, "")):
            return commits[name], name.removesuffix("^{}")
    evidence = f"{without_credentials(spec.url)} has no branch or tag {revision}"
    raise RejectedError(Reason.SOURCE_UNAVAILABLE, evidence)


def _two_columns(listing: str) -> Iterator[tuple[str, str]]:
    for line in listing.splitlines():
        left, tab, right = line.partition("\t")
        if tab:
            yield left, right


def _fetch(url: str, name: str, commit: str, place: Path, limits: FetchLimits) -> None:
    unfinished = Path(tempfile.mkdtemp(prefix="unfinished-", dir=place.parent))
    git_dir = unfinished / "fetch.git"
    try:
        run_git(git_dir, "init", "--bare", "--quiet", "--template=", str(git_dir), limits=limits)
        options = ("--depth=1", "--no-tags", "--no-write-fetch-head", "--quiet")
        run_git(git_dir, "fetch", *options, "--", url, f"{name}:refs/pinned/commit", limits=limits)
        run_git(git_dir, "cat-file", "-e", f"{commit}^{{commit}}", limits=limits)
        git_dir.rename(place)
    except OSError:
        # Another process may have been first; its copy is as good.
        if not place.is_dir():
            raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)

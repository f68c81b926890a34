"""`hub_dataset`: publishes a release folder on the Hugging Face Hub, or says that none is set.

A release is uploaded to the branch of a pull request, read back, merged into main at once and
tagged with its date. `upload_folder` is used and not `push_to_hub`, because the latter encodes
the data anew: what is published is byte for byte what was validated, and what the manifest names.

A run that ends in the middle leaves a draft behind, never a part of a release on main; the next
run takes the draft up where it was left.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from cass_pipeline.corpus.edition import Editor
from cass_pipeline.corpus.hub_errors import Patience, named_errors
from cass_pipeline.corpus.hub_repository import TITLE, HubRepository
from cass_pipeline.corpus.release import Release, read_release, verify_release
from cass_pipeline.errors import InfrastructureError
from cass_pipeline.stage import Log

_ROUNDS = 5
"""How often a publisher begins again because another one was first."""


@dataclass(frozen=True)
class HubTarget:
    """Where to publish. Empty texts mean "not configured"."""

    repo_id: str = ""
    """Dataset repository as `owner/name`; created where missing."""
    token: str = field(default="", repr=False)
    """Access token that may write to the repository."""
    endpoint: str = ""
    """Address of the Hub; empty for the client's own default."""
    private: bool = True
    """Whether a repository that has to be created is private."""
    patience: Patience = field(default_factory=Patience)


@dataclass(frozen=True)
class LocalRelease:
    """The release was verified and stays where it is."""

    release: Release
    tag: str
    new: bool
    """False where the last release has the same content, so that this is no other one."""
    reason: str
    """Why it was not uploaded, and what would change that."""


@dataclass(frozen=True)
class HubRelease:
    """The release is on the Hub."""

    release: Release
    tag: str
    new: bool
    """False where the Hub held the same content already, so that nothing was published."""
    repo_id: str
    commit: str
    """Commit (hexadecimal) of main that holds this release."""
    url: str
    """Address of that commit, for people."""


def publish(editor: Editor, target: HubTarget, log: Log) -> LocalRelease | HubRelease:
    """Verifies a release folder, dates it and publishes it.

    Content that the last release had already is not released again.

    Args:
        editor: of the release folder.
        target: where to publish; without a repository or a token the release stays local.
        log: told about progress.

    Raises:
        StoreError: the folder is not a release, or a file differs from the manifest.
        ConfigurationError: the Hub refuses the token or the name of the repository.
        InfrastructureError: the Hub cannot be reached or fails; the same call may succeed later.
    """
    verify_release(read_release(editor.folder))
    missing = [name for name in ("repo_id", "token") if not getattr(target, name)]
    if missing:
        reason = f"no {' and no '.join(missing)} configured: set them to publish to the Hub"
        result: LocalRelease | HubRelease = _keep(editor, reason)
    else:
        with named_errors(target.repo_id, target.endpoint), _silence():
            result = _upload(editor, target, log)
    editor.remember()
    return result


def _keep(editor: Editor, reason: str) -> LocalRelease:
    previous = editor.last()
    if previous and previous.content == read_release(editor.folder).content:
        edition = editor.adopt(previous)
        return LocalRelease(read_release(editor.folder), edition.tag, False, reason)
    edition = editor.edit(previous, ())
    return LocalRelease(read_release(editor.folder), edition.tag, True, reason)


def _upload(editor: Editor, target: HubTarget, log: Log) -> HubRelease:
    from huggingface_hub import HfApi

    api = HfApi(endpoint=target.endpoint or None, token=target.token)
    repository = HubRepository(api, target.repo_id, target.patience, log)
    log(f"publishing to {target.repo_id} as {repository.user}")
    repository.create(target.private)
    for _ in range(_ROUNDS):
        result = _round(editor, repository, log)
        if result is not None:
            return result
        log("another publisher was first; beginning again from what main holds now")
    raise InfrastructureError(
        f"others published to {target.repo_id} {_ROUNDS} times meanwhile: run it again"
    )


def _round(editor: Editor, repository: HubRepository, log: Log) -> HubRelease | None:
    """Publishes onto what main holds now; None where main moved on before the merge."""
    main = repository.main()
    release = read_release(editor.folder)
    if main.previous and main.previous.content == release.content:
        edition = editor.adopt(main.previous)
        # A run may have been killed between its merge and its tag.
        commit = repository.tag(edition.tag, main.commit)
        return _result(editor, repository, commit, new=False)
    edition = editor.edit(main.previous, main.tags)
    release = read_release(editor.folder)
    others = {path: file for path, file in main.files.items() if path not in release.files}
    request = repository.request(f"{TITLE}{release.version}")
    log(f"uploading {edition.tag} ({release.version}) to {request.git_reference}")
    branch = str(request.git_reference)
    try:
        repository.upload(branch, release)
        repository.check(branch, release, others)
    except Exception:
        if repository.is_closed(request):
            return None
        raise
    merged = repository.merge(request, onto=main.commit)
    if merged is None:
        repository.close(request, "Another release was merged first.")
        return None
    repository.check(merged, release, others)
    tagged = repository.tag(edition.tag, merged)
    if tagged != merged:  # of another publisher, in the same instant
        repository.check(tagged, release, others)
    repository.close_overtaken(f"Overtaken by {edition.tag}.")
    return _result(editor, repository, tagged, new=True)


def _result(editor: Editor, repository: HubRepository, commit: str, new: bool) -> HubRelease:
    release = read_release(editor.folder)
    tag = release.edition.tag if release.edition else ""
    return HubRelease(release, tag, new, repository.name, commit, repository.url(commit))


@contextmanager
def _silence() -> Iterator[None]:
    """Without the client's progress bars."""
    from huggingface_hub.utils.tqdm import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    before = are_progress_bars_disabled()
    disable_progress_bars()
    try:
        yield
    finally:
        if not before:
            enable_progress_bars()

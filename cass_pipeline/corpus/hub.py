"""`hub_dataset`: uploads a release folder to the Hugging Face Hub, or says that none is configured.

`upload_folder` is used and not `push_to_hub`, because the latter encodes the data anew: what is
published is byte for byte what was validated, and what the manifest names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cass_pipeline.corpus.release import MANIFEST, Release, read_release, verify_release
from cass_pipeline.errors import ConfigurationError, InfrastructureError

# In these patterns `*` crosses folders. Shards of an older, longer release must not stay behind;
# files that people added to the repository may.
_REPLACED = ("data/*", "NOTICE", "LICENSES")
_REFUSED = frozenset({401, 403, 404})


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


@dataclass(frozen=True)
class LocalRelease:
    """The release was verified and stays where it is."""

    release: Release
    reason: str
    """Why it was not uploaded, and what would change that."""


@dataclass(frozen=True)
class HubRelease:
    """The release is on the Hub."""

    release: Release
    repo_id: str
    commit: str
    """Commit (hexadecimal) that holds exactly this release."""
    url: str
    """Address of that commit, for people."""


def publish(folder: Path, target: HubTarget) -> LocalRelease | HubRelease:
    """Verifies a release folder against its manifest and uploads it.

    Publishing the same release again makes no new commit.

    Raises:
        StoreError: the folder is not a release, or a file differs from the manifest.
        ConfigurationError: the Hub refuses the token or the name of the repository.
        InfrastructureError: the Hub cannot be reached or fails; the same call may succeed later.
    """
    release = read_release(folder)
    verify_release(release)
    missing = [name for name in ("repo_id", "token") if not getattr(target, name)]
    if missing:
        reason = f"no {' and no '.join(missing)} configured: set them to publish to the Hub"
        return LocalRelease(release, reason)
    with _named_errors(target), _silence():
        return _upload(release, target)


def _upload(release: Release, target: HubTarget) -> HubRelease:
    from huggingface_hub import HfApi

    api = HfApi(endpoint=target.endpoint or None, token=target.token)
    api.create_repo(target.repo_id, repo_type="dataset", private=target.private, exist_ok=True)
    commit = api.upload_folder(
        repo_id=target.repo_id,
        repo_type="dataset",
        folder_path=release.folder,
        commit_message=f"Release {release.version}",
        allow_patterns=[*release.files, MANIFEST],
        delete_patterns=list(_REPLACED),
    )
    return HubRelease(release, target.repo_id, commit.oid, str(commit.commit_url))


@contextmanager
def _named_errors(target: HubTarget) -> Iterator[None]:
    """Names the client's errors by what the caller should do next."""
    from httpx2 import HTTPError
    from huggingface_hub.errors import HFValidationError

    try:
        yield
    except HFValidationError as error:
        raise ConfigurationError(
            f"{target.repo_id!r} is not the name of a repository, which is owner/name: {error}"
        ) from error
    except (HTTPError, OSError) as error:
        raise _named(error, target) from error
    except RuntimeError as error:
        # The client wraps what stops the upload of one file.
        if not isinstance(error.__cause__, HTTPError | OSError):
            raise
        raise _named(error.__cause__, target) from error


def _named(error: Exception, target: HubTarget) -> ConfigurationError | InfrastructureError:
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    # The rest of the client's message repeats the address and a request id.
    short = str(error).strip().partition("\n")[0] or type(error).__name__
    if isinstance(error, OfflineModeIsEnabled):
        return ConfigurationError("the Hub client is in offline mode: unset HF_HUB_OFFLINE")
    if not isinstance(error, HfHubHTTPError):
        return InfrastructureError(
            f"the Hub at {target.endpoint or 'its default address'} cannot be reached: check the "
            f"network and run it again ({short})"
        )
    if error.response is not None and error.response.status_code in _REFUSED:
        return ConfigurationError(
            f"the Hub refuses to publish to {target.repo_id}: check that its owner exists, and "
            f"that the token is valid and may write there ({short})"
        )
    return InfrastructureError(
        f"the Hub failed while {target.repo_id} was published; run it again ({short})"
    )


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

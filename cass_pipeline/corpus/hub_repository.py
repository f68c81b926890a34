"""One dataset repository on the Hub: its state, and the few things that a release does to it.

The Hub merges pull requests only, so the branch of a release is that of a pull request,
`refs/pr/<number>`. It is a draft, which nobody can merge by mistake, until it was checked. The
merge makes one commit on main: readers of main see the old release or the new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from cass_pipeline.corpus.edition import HISTORY, Previous, read_previous
from cass_pipeline.corpus.hub_errors import Patience, status_of
from cass_pipeline.corpus.readback import RemoteFile, check_revision, list_files, release_files
from cass_pipeline.corpus.release import MANIFEST, Release
from cass_pipeline.stage import Log

if TYPE_CHECKING:
    from huggingface_hub import Discussion, HfApi

TITLE = "Release "
"""Pull requests of releases begin with it; the version follows."""
_REPLACED = "data/*"  # `*` crosses folders


@dataclass(frozen=True)
class Main:
    """The state of the main branch."""

    commit: str
    files: Mapping[str, RemoteFile]
    tags: Mapping[str, str]
    """Commits by tag."""
    previous: Previous | None
    """The release that it holds; None before the first one."""


@dataclass(frozen=True)
class HubRepository:
    """A dataset repository, by way of the Hub's client. Every method may be repeated."""

    api: HfApi
    name: str
    patience: Patience
    log: Log

    @cached_property
    def user(self) -> str:
        """Whose the token is."""
        return str(self.patience.call(lambda: self.api.whoami(), self.log)["name"])

    def create(self, private: bool) -> None:
        """Creates the repository where it is missing."""
        self.patience.call(
            lambda: self.api.create_repo(
                self.name, repo_type="dataset", private=private, exist_ok=True
            ),
            self.log,
        )

    def main(self) -> Main:
        """What main holds at the moment."""
        return self.patience.call(self._main, self.log)

    def _main(self) -> Main:
        refs = self.api.list_repo_refs(self.name, repo_type="dataset")
        commit = next(ref.target_commit for ref in refs.branches if ref.name == "main")
        files = list_files(self.api, self.name, commit)
        return Main(
            commit,
            files,
            {ref.name: ref.target_commit for ref in refs.tags},
            self._previous(commit) if MANIFEST in files else None,
        )

    def _previous(self, commit: str) -> Previous | None:
        with TemporaryDirectory(prefix="cass-hub-") as folder:
            for name in HISTORY:
                self.api.hf_hub_download(
                    self.name, name, repo_type="dataset", revision=commit, local_dir=folder
                )
            return read_previous(Path(folder))

    def request(self, title: str) -> Discussion:
        """The open pull request of that title, of this user; a new one where there is none."""
        return self.patience.call(lambda: self._request(title), self.log)

    def _request(self, title: str) -> Discussion:
        # Another user's request of the same title may hold anything.
        for found in self._open_requests():
            if found.title == title and found.author == self.user:
                return found
        return self.api.create_pull_request(
            self.name,
            title=title,
            description="Opened by cass_pipeline; merged by it once it is checked.",
            repo_type="dataset",
        )

    def _open_requests(self) -> list[Discussion]:
        # Without a status: whether drafts count as open is nowhere documented.
        requests = self.api.get_repo_discussions(
            self.name, discussion_type="pull_request", repo_type="dataset"
        )
        return [found for found in requests if found.status in ("draft", "open")]

    def upload(self, revision: str, release: Release) -> None:
        """Makes a branch hold the release; sends only what the branch does not hold yet."""
        self.patience.call(
            lambda: self.api.upload_folder(
                repo_id=self.name,
                repo_type="dataset",
                folder_path=release.folder,
                revision=revision,
                commit_message=f"{TITLE}{release.version}",
                allow_patterns=list(release_files(release)),
                delete_patterns=[_REPLACED],
            ),
            self.log,
        )

    def check(self, revision: str, release: Release, others: Mapping[str, RemoteFile]) -> None:
        """See `check_revision`."""
        self.patience.call(
            lambda: check_revision(self.api, self.name, revision, release, others), self.log
        )

    def merge(self, request: Discussion, onto: str) -> str | None:
        """Puts a pull request into main; gives the commit, or None where main has moved on.

        Args:
            request: checked, and nothing else was done to it since.
            onto: the commit that main is expected at.
        """
        return self.patience.call(lambda: self._merge(request.num, onto), self.log)

    def _merge(self, number: int, onto: str) -> str | None:
        details = self.api.get_discussion_details(self.name, number, repo_type="dataset")
        if details.status == "merged":  # by an earlier attempt whose answer was lost
            return details.merge_commit_oid
        # Should main move between this look and the merge, the Hub sees a conflict: every
        # release has a manifest and a changelog of its own.
        if details.status == "closed" or details.conflicting_files or self._head() != onto:
            return None
        if details.status == "draft":
            self.api.change_discussion_status(self.name, number, "open", repo_type="dataset")
        try:
            self.api.merge_pull_request(self.name, number, repo_type="dataset")
        except Exception as error:
            # Main may have moved since we looked.
            if status_of(error) not in (400, 409):
                raise
            details = self.api.get_discussion_details(self.name, number, repo_type="dataset")
            if details.status == "open" and not details.conflicting_files:
                raise
            return details.merge_commit_oid
        details = self.api.get_discussion_details(self.name, number, repo_type="dataset")
        return details.merge_commit_oid

    def is_closed(self, request: Discussion) -> bool:
        """Whether somebody closed a pull request, as publishers do with those they overtook."""
        details = self.patience.call(
            lambda: self.api.get_discussion_details(self.name, request.num, repo_type="dataset"),
            self.log,
        )
        return details.status == "closed"

    def _head(self) -> str | None:
        return self.api.dataset_info(self.name, revision="main").sha

    def close(self, request: Discussion, why: str) -> None:
        """Closes a pull request that is not to be merged."""
        self.patience.call(lambda: self._close(request, why), self.log)

    def _close(self, request: Discussion, why: str) -> None:
        details = self.api.get_discussion_details(self.name, request.num, repo_type="dataset")
        if details.status in ("draft", "open"):
            self.api.change_discussion_status(
                self.name, request.num, "closed", comment=why, repo_type="dataset"
            )

    def close_overtaken(self, why: str) -> None:
        """Closes this user's other requests of releases: they no longer fit onto main."""
        requests = self.patience.call(self._open_requests, self.log)
        for request in requests:
            if request.title.startswith(TITLE) and request.author == self.user:
                self.close(request, why)

    def tag(self, tag: str, commit: str) -> str:
        """Names a commit, unless the tag is there already; gives the commit that it names."""
        self.patience.call(
            lambda: self.api.create_tag(
                self.name, tag=tag, revision=commit, repo_type="dataset", exist_ok=True
            ),
            self.log,
        )
        found = self.patience.call(lambda: self.api.dataset_info(self.name, revision=tag), self.log)
        return str(found.sha)

    def url(self, commit: str) -> str:
        """Address of a revision, for people."""
        return f"{self.api.endpoint}/datasets/{self.name}/tree/{commit}"

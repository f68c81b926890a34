"""Dataset repositories of the test Hub: commits, branches, tags and pull requests, in memory."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field

Files = dict[str, bytes]
MAIN = "refs/heads/main"


class GitError(Exception):
    """What the Hub answers with this status and code."""

    def __init__(self, status: int, code: str, message: str = "") -> None:
        super().__init__(message or code)
        self.status, self.code = status, code


@dataclass(frozen=True)
class Commit:
    """Every file of a revision, and where it came from."""

    oid: str
    files: Files
    parents: tuple[str, ...]
    title: str


@dataclass
class PullRequest:
    """A discussion with a branch of its own, `refs/pr/<number>`."""

    number: int
    title: str
    author: str
    base: str
    """The commit of main that it began from."""
    status: str = "draft"
    """`draft`, `open`, `closed` or `merged`; as on the Hub, a draft cannot be merged."""
    merge_commit: str | None = None

    @property
    def ref(self) -> str:
        """The branch that commits of this pull request go to."""
        return f"refs/pr/{self.number}"


@dataclass
class Repository:
    """Commits by id, and refs by their full name."""

    private: bool
    commits: dict[str, Commit] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    pull_requests: dict[int, PullRequest] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self.commit(MAIN, {".gitattributes": b"*.parquet filter=lfs\n"}, "initial commit")

    def find(self, revision: str) -> Commit:
        """The commit of a branch, tag, pull request or commit id."""
        for ref in (f"refs/heads/{revision}", f"refs/tags/{revision}", revision):
            if ref in self.refs:
                return self.commits[self.refs[ref]]
        if revision in self.commits:
            return self.commits[revision]
        raise GitError(404, "RevisionNotFound", f"no revision {revision}")

    def writable(self, revision: str) -> str:
        """The full name of a branch or pull request."""
        found = [ref for ref in (f"refs/heads/{revision}", revision) if ref in self.refs]
        if not found or found[0].startswith("refs/tags/"):
            raise GitError(404, "RevisionNotFound", f"no branch {revision}")
        return found[0]

    def commit(self, ref: str, files: Files, title: str = "commit") -> str:
        """Puts a commit on top of a ref."""
        parents = (self.refs[ref],) if ref in self.refs else ()
        made = f"{len(self.commits)} {parents} {title} {sorted(files)}"
        oid = hashlib.sha1(made.encode()).hexdigest()
        self.commits[oid] = Commit(oid, dict(files), parents, title)
        self.refs[ref] = oid
        return oid

    def create_ref(self, ref: str, revision: str) -> None:
        """A new branch or tag."""
        if ref in self.refs:
            raise GitError(409, "Conflict", f"{ref} exists")
        self.refs[ref] = self.find(revision).oid

    def open_pull_request(self, title: str, author: str) -> PullRequest:
        """A draft that begins at main."""
        number = len(self.pull_requests) + 1
        request = PullRequest(number, title, author, self.refs[MAIN])
        self.pull_requests[number] = request
        self.refs[request.ref] = request.base
        return request

    def conflicts(self, request: PullRequest) -> list[str]:
        """Files that main and the pull request changed, each in its own way."""
        base = self.commits[request.base].files
        main, ours = self.find("main").files, self.find(request.ref).files
        return [
            path
            for path in sorted({*base, *main, *ours})
            if base.get(path) != main.get(path)
            and base.get(path) != ours.get(path)
            and main.get(path) != ours.get(path)
        ]

    def merge(self, request: PullRequest) -> str:
        """Squashes a pull request into one commit on main."""
        if request.status != "open":
            raise GitError(400, "BadRequest", f"This pull request is {request.status}")
        if self.conflicts(request):
            raise GitError(409, "Conflict", "This pull request has conflicts")
        base = self.commits[request.base].files
        main, ours = self.find("main").files, self.find(request.ref).files
        merged = {
            path: files[path]
            for path in {*main, *ours}
            for files in ((main if ours.get(path) == base.get(path) else ours),)
            if path in files
        }
        request.status = "merged"
        request.merge_commit = self.commit(MAIN, merged, f"{request.title} (#{request.number})")
        return request.merge_commit

"""What the test Hub answers: the real one's routes that `huggingface_hub` and `datasets` use."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from .hub_git import Commit, Files, GitError, PullRequest, Repository

if TYPE_CHECKING:
    from .hub_server import Hub

NAME = r"([^/]+/[^/]+)"
API = rf"/api/datasets/{NAME}"
CREATED = "2026-01-01T00:00:00.000Z"


@dataclass(frozen=True)
class Request:
    """What a route needs of a request."""

    user: str
    body: bytes
    query: str
    range: str

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body or b"{}")

    def parameter(self, name: str) -> str:
        """A parameter of the address, or nothing."""
        return parse_qs(self.query).get(name, [""])[0]


class Routes:
    """The routes, on one Hub's state."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.table: list[tuple[str, str, Callable[..., Any]]] = [
            ("GET", r"/api/whoami-v2", lambda request: {"name": request.user, "type": "user"}),
            ("POST", r"/api/repos/create", self.create),
            ("POST", r"/api/validate-yaml", lambda request: {"errors": [], "warnings": []}),
            ("GET", API, self.describe),
            ("GET", rf"{API}/revision/([^/]+)", self.describe),
            ("GET", rf"{API}/refs", self.refs),
            ("POST", rf"{API}/branch/([^/]+)", self.create_branch),
            ("DELETE", rf"{API}/branch/([^/]+)", self.delete_branch),
            ("POST", rf"{API}/tag/([^/]+)", self.create_tag),
            ("POST", rf"{API}/preupload/([^/]+)", self.preupload),
            ("POST", rf"{API}/commit/([^/]+)", self.commit),
            ("GET", rf"{API}/tree/([^/]+)(?:/(.+))?", self.tree),
            ("POST", rf"{API}/paths-info/([^/]+)", self.paths_info),
            ("GET", rf"{API}/discussions", self.discussions),
            ("POST", rf"{API}/discussions", self.discuss),
            ("GET", rf"{API}/discussions/(\d+)", self.discussion),
            ("POST", rf"{API}/discussions/(\d+)/status", self.change_status),
            ("POST", rf"{API}/discussions/(\d+)/merge", self.merge),
            ("POST", rf"{API}/discussions/(\d+)/comment", self.comment),
            ("POST", rf"/datasets/{NAME}\.git/info/lfs/objects/batch", self.lfs_batch),
            ("PUT", r"/lfs-put/([0-9a-f]{64})", self.lfs_put),
            ("GET", rf"/datasets/{NAME}/resolve/([^/]+)/(.+)", self.resolve),
        ]

    def repository(self, name: str) -> Repository:
        if name not in self.hub.repositories:
            raise GitError(404, "RepoNotFound", "Repository not found")
        return self.hub.repositories[name]

    def at(self, name: str, revision: str) -> Commit:
        return self.repository(name).find(revision)

    def create(self, request: Request) -> Any:
        wanted = request.json
        name = "/".join(filter(None, (wanted.get("organization", "tester"), wanted["name"])))
        status = 409 if name in self.hub.repositories else 200
        if status == 200:
            private = wanted.get("visibility") == "private" or bool(wanted.get("private"))
            self.hub.repositories[name] = Repository(private)
        return status, {"url": f"{self.hub.endpoint}/datasets/{name}", "id": name}, {}

    def describe(self, request: Request, name: str, revision: str = "main") -> Any:
        commit = self.at(name, revision)
        siblings = [{"rfilename": path} for path in sorted(commit.files)]
        private = self.repository(name).private
        return {
            "id": name,
            "sha": commit.oid,
            "private": private,
            "siblings": siblings,
            "tags": [],
        } | {"downloads": 0, "likes": 0, "disabled": False, "gated": False}

    def refs(self, request: Request, name: str) -> Any:
        def under(prefix: str) -> list[dict[str, str]]:
            return [
                {"name": ref.removeprefix(prefix), "ref": ref, "targetCommit": oid}
                for ref, oid in self.repository(name).refs.items()
                if ref.startswith(prefix)
            ]

        heads = {"branches": under("refs/heads/"), "tags": under("refs/tags/"), "converts": []}
        requests = {"pullRequests": under("refs/pr/")} if request.parameter("include_prs") else {}
        return heads | requests

    def create_branch(self, request: Request, name: str, branch: str) -> Any:
        start = request.json.get("startingPoint") or "main"
        self.repository(name).create_ref(f"refs/heads/{branch}", start)
        return {}

    def delete_branch(self, request: Request, name: str, branch: str) -> Any:
        repository = self.repository(name)
        del repository.refs[repository.writable(branch)]
        return {}

    def create_tag(self, request: Request, name: str, revision: str) -> Any:
        self.repository(name).create_ref(f"refs/tags/{request.json['tag']}", revision)
        return {}

    def preupload(self, request: Request, name: str, revision: str) -> Any:
        files = self.at(name, revision).files
        return {"files": [preuploaded(file["path"], files) for file in request.json["files"]]}

    def lfs_batch(self, request: Request, name: str) -> Any:
        objects = []
        for wanted in request.json["objects"]:
            href = f"{self.hub.endpoint}/lfs-put/{wanted['oid']}"
            upload = {"actions": {"upload": {"href": href}}}
            objects.append(wanted | ({} if wanted["oid"] in self.hub.objects else upload))
        return {"transfer": "basic", "objects": objects}

    def lfs_put(self, request: Request, oid: str) -> Any:
        if hashlib.sha256(request.body).hexdigest() != oid:
            raise GitError(400, "WrongHash")
        self.hub.objects[oid] = request.body
        return {}

    def commit(self, request: Request, name: str, revision: str) -> Any:
        repository = self.repository(name)
        ref = repository.writable(revision)
        files = dict(repository.find(revision).files)
        title = "commit"
        for line in request.body.splitlines():
            entry = json.loads(line)
            value = entry["value"]
            if entry["key"] == "header":
                title = value["summary"]
                if value.get("parentCommit", repository.refs[ref]) != repository.refs[ref]:
                    raise GitError(412, "PreconditionFailed", "A commit has happened since.")
            elif entry["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif entry["key"] == "lfsFile":
                files[value["path"]] = self.hub.objects[value["oid"]]
            elif entry["key"] == "deletedFile":
                del files[value["path"]]
        oid = repository.commit(ref, self.hub.spoil(files), title)
        url = f"{self.hub.endpoint}/datasets/{name}/commit/{oid}"
        return {"commitUrl": url, "commitOid": oid, "success": True}

    def tree(self, request: Request, name: str, revision: str, folder: str = "") -> Any:
        files = self.at(name, revision).files
        recursive = request.parameter("recursive").lower() == "true"
        entries = [*map(directory, directories(files)), *(entry(p, d) for p, d in files.items())]
        prefix = f"{folder}/" if folder else ""
        found = [
            item
            for item in entries
            if item["path"].startswith(prefix)
            and (recursive or "/" not in item["path"][len(prefix) :])
        ]
        if folder and not found:
            raise GitError(404, "EntryNotFound", "Entry not found")
        return self.page(request, name, revision, folder, found)

    def page(self, request: Request, name: str, revision: str, folder: str, found: Any) -> Any:
        """Four entries a page, so that clients which read one page only are found out."""
        start, size = int(request.parameter("cursor") or 0), 4
        rest = f"recursive={request.parameter('recursive')}&cursor={start + size}"
        path = f"/api/datasets/{name}/tree/{revision.replace('/', '%2F')}"
        address = f"{self.hub.endpoint}{path}{'/' if folder else ''}{folder}?{rest}"
        more = {"Link": f'<{address}>; rel="next"'} if start + size < len(found) else {}
        return 200, found[start : start + size], more

    def paths_info(self, request: Request, name: str, revision: str) -> Any:
        files = self.at(name, revision).files
        wanted = request.json["paths"]
        folders = directories(files)
        found = [entry(path, files[path]) for path in wanted if path in files]
        return found + [directory(path) for path in wanted if path in folders]

    def discussions(self, request: Request, name: str) -> Any:
        found = [
            self.summary(name, pull)
            for pull in self.repository(name).pull_requests.values()
            if request.parameter("status") in ("", "all")
            or (pull.status in ("draft", "open")) == (request.parameter("status") == "open")
        ]
        return {"discussions": found, "count": len(found), "start": 0}

    def discuss(self, request: Request, name: str) -> Any:
        wanted = request.json
        pull = self.repository(name).open_pull_request(wanted["title"], request.user)
        return {"num": pull.number}

    def discussion(self, request: Request, name: str, number: str) -> Any:
        pull = self.pull_request(name, number)
        conflicts = self.repository(name).conflicts(pull) if pull.status != "merged" else []
        changes = {"base": "refs/heads/main", "mergeCommitId": pull.merge_commit}
        return self.summary(name, pull) | {
            "changes": changes,
            "filesWithConflicts": conflicts,
            "events": [],
            "diff": "",
        }

    def change_status(self, request: Request, name: str, number: str) -> Any:
        pull = self.pull_request(name, number)
        if pull.status == "merged":
            raise GitError(400, "BadRequest", "This pull request is merged")
        pull.status = request.json["status"]
        return {"newStatus": event("status-change", {"status": pull.status})}

    def merge(self, request: Request, name: str, number: str) -> Any:
        self.repository(name).merge(self.pull_request(name, number))
        return {}

    def comment(self, request: Request, name: str, number: str) -> Any:
        latest = {"raw": request.json["comment"], "html": "", "updatedAt": CREATED}
        data = {"edited": False, "hidden": False, "latest": latest, "history": []}
        return {"newMessage": event("comment", data)}

    def pull_request(self, name: str, number: str) -> PullRequest:
        found = self.repository(name).pull_requests.get(int(number))
        if not found:
            raise GitError(404, "DiscussionNotFound", "no such discussion")
        return found

    def summary(self, name: str, pull: PullRequest) -> dict[str, Any]:
        return {
            "num": pull.number,
            "title": pull.title,
            "status": pull.status,
            "author": {"name": pull.author},
            "isPullRequest": True,
            "createdAt": CREATED,
            "repo": {"name": name, "type": "dataset"},
        }

    def resolve(self, request: Request, name: str, revision: str, path: str) -> Any:
        commit = self.at(name, revision)
        if path not in commit.files:
            raise GitError(404, "EntryNotFound", "Entry not found")
        data = commit.files[path]
        headers = {"X-Repo-Commit": commit.oid, "Accept-Ranges": "bytes"}
        headers |= {"ETag": f'"{file_oid(path, data)}"', "X-Linked-Size": str(len(data))}
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", request.range)
        if not wanted:
            return 200, data, headers
        start, end = int(wanted[1]), int(wanted[2] or len(data) - 1)
        headers["Content-Range"] = f"bytes {start}-{min(end, len(data) - 1)}/{len(data)}"
        return 206, data[start : end + 1], headers


def event(kind: str, data: dict[str, Any]) -> dict[str, Any]:
    """An entry of a discussion."""
    common = {"id": "1", "type": kind, "createdAt": CREATED, "author": {"name": "tester"}}
    return common | {"data": data}


def file_oid(path: str, data: bytes) -> str:
    """What git or LFS calls these bytes."""
    if path.endswith(".parquet"):
        return hashlib.sha256(data).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def preuploaded(path: str, files: Files) -> dict[str, Any]:
    """Whether a file goes to LFS, and what the repository holds in its place."""
    mode = "lfs" if path.endswith(".parquet") else "regular"
    oid = file_oid(path, files[path]) if path in files else None
    return {"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": oid}


def entry(path: str, data: bytes) -> dict[str, Any]:
    """A file as listings show it."""
    oid = file_oid(path, data)
    lfs = {"lfs": {"oid": oid, "size": len(data), "pointerSize": 130}}
    found = {"type": "file", "path": path, "size": len(data), "oid": oid}
    return found | (lfs if path.endswith(".parquet") else {})


def directory(path: str) -> dict[str, Any]:
    """A folder as listings show it."""
    return {"type": "directory", "path": path, "size": 0, "oid": "0" * 40}


def directories(files: Files) -> list[str]:
    """Every folder that holds a file."""
    parents = (path.split("/")[:-1] for path in files)
    return sorted({"/".join(parts[: n + 1]) for parts in parents for n in range(len(parts))})

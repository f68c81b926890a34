"""A small Hub for tests: dataset repositories in memory, over HTTP, with the standard library.

It serves the routes that `huggingface_hub` and `datasets` use without Xet (the tests switch Xet
off: its protocol is not covered). Commits are real: each revision keeps its files.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

Files = dict[str, bytes]
TOKEN = "hf_test"


@dataclass
class Repository:
    """Files by commit; `revisions` maps branches, tags and commits to commits."""

    private: bool
    commits: dict[str, Files] = field(default_factory=dict)
    revisions: dict[str, str] = field(default_factory=dict)

    def commit(self, files: Files) -> str:
        oid = hashlib.sha1(f"{len(self.commits)}{sorted(files)}".encode()).hexdigest()
        self.commits[oid] = files
        self.revisions |= {"main": oid, oid: oid}
        return oid


@dataclass
class Hub:
    """State shared by all requests, and switches for faults."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    objects: dict[str, bytes] = field(default_factory=dict)
    failing_status: int = 0
    """Every request is answered with this status; 0 for none."""
    failing_uploads: bool = False
    endpoint: str = ""

    def files(self, name: str, revision: str = "main") -> Files:
        repository = self.repositories[name]
        return repository.commits[repository.revisions[revision]]


@contextmanager
def serve() -> Iterator[Hub]:
    """A running Hub on a free port of this machine."""
    hub = Hub()
    handler = type("Handler", (_Handler,), {"hub": hub})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        hub.endpoint = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()


class _RouteError(Exception):
    def __init__(self, status: int, code: str) -> None:
        self.status, self.code = status, code


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Tests are silent."""

    def read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        sizes = iter(lambda: int(self.rfile.readline() or b"0", 16), 0)
        # Each chunk ends with CR LF.
        body = b"".join(self.rfile.read(size + 2)[:-2] for size in sizes)
        self.rfile.readline()
        return body

    def handle_request(self) -> None:
        path = urlsplit(self.path).path
        self.body = self.read_body()
        try:
            if self.hub.failing_status:
                raise _RouteError(self.hub.failing_status, "Unavailable")
            if self.headers.get("Authorization") != f"Bearer {TOKEN}" and "/lfs-put/" not in path:
                raise _RouteError(401, "Unauthorized")
            for method, pattern, route in ROUTES:
                found = re.fullmatch(pattern, path)
                if found and method == self.command.replace("HEAD", "GET"):
                    return route(self, *map(unquote, found.groups()))
            raise _RouteError(404, "RouteNotFound")
        except _RouteError as failure:
            headers = {"X-Error-Code": failure.code, "X-Error-Message": failure.code}
            self.answer({"error": failure.code}, failure.status, headers)

    do_GET = do_HEAD = do_POST = do_PUT = handle_request  # noqa: N815

    def answer(self, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def repository(self, name: str) -> Repository:
        if name not in self.hub.repositories:
            raise _RouteError(404, "RepoNotFound")
        return self.hub.repositories[name]

    def at(self, name: str, revision: str) -> tuple[str, Files]:
        repository = self.repository(name)
        if revision not in repository.revisions:
            raise _RouteError(404, "RevisionNotFound")
        oid = repository.revisions[revision]
        return oid, repository.commits[oid]

    def create(self) -> None:
        wanted = json.loads(self.body)
        name = "/".join(filter(None, (wanted.get("organization", "tester"), wanted["name"])))
        status = 409 if name in self.hub.repositories else 200
        if status == 200:
            repository = self.hub.repositories[name] = Repository(
                wanted.get("visibility") == "private"
            )
            repository.commit({".gitattributes": b"*.parquet filter=lfs\n"})
        self.answer({"url": f"{self.hub.endpoint}/datasets/{name}", "id": name}, status)

    def validate_yaml(self) -> None:
        self.answer({"errors": [], "warnings": []})

    def describe(self, name: str, revision: str = "main") -> None:
        oid, files = self.at(name, revision)
        siblings = [{"rfilename": path} for path in sorted(files)]
        private = self.repository(name).private
        self.answer(
            {"id": name, "sha": oid, "private": private, "siblings": siblings, "tags": []}
            | {"downloads": 0, "likes": 0, "disabled": False, "gated": False}
        )

    def preupload(self, name: str, revision: str) -> None:
        _, files = self.at(name, revision)
        self.answer(
            {"files": [preuploaded(f["path"], files) for f in json.loads(self.body)["files"]]}
        )

    def lfs_batch(self, name: str) -> None:
        objects = []
        for wanted in json.loads(self.body)["objects"]:
            href = f"{self.hub.endpoint}/lfs-put/{wanted['oid']}"
            upload = {"actions": {"upload": {"href": href}}}
            objects.append(wanted | ({} if wanted["oid"] in self.hub.objects else upload))
        self.answer({"transfer": "basic", "objects": objects})

    def lfs_put(self, oid: str) -> None:
        if self.hub.failing_uploads:
            raise _RouteError(503, "Unavailable")
        if hashlib.sha256(self.body).hexdigest() != oid:
            raise _RouteError(400, "WrongHash")
        self.hub.objects[oid] = self.body
        self.answer({})

    def commit(self, name: str, revision: str) -> None:
        _, before = self.at(name, revision)
        files = dict(before)
        for line in self.body.splitlines():
            entry = json.loads(line)
            value = entry["value"]
            if entry["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif entry["key"] == "lfsFile":
                files[value["path"]] = self.hub.objects[value["oid"]]
            elif entry["key"] == "deletedFile":
                del files[value["path"]]
        oid = self.repository(name).commit(files)
        url = f"{self.hub.endpoint}/datasets/{name}/commit/{oid}"
        self.answer({"commitUrl": url, "commitOid": oid, "success": True})

    def refs(self, name: str) -> None:
        main = {"name": "main", "ref": "refs/heads/main"}
        main["targetCommit"] = self.repository(name).revisions["main"]
        self.answer({"branches": [main], "tags": [], "converts": []})

    def tree(self, name: str, revision: str, folder: str | None = None) -> None:
        _, files = self.at(name, revision)
        recursive = "recursive=true" in self.path.lower()
        entries = [*map(directory, directories(files)), *(entry(p, d) for p, d in files.items())]
        prefix = f"{folder}/" if folder else ""
        found = [
            item
            for item in entries
            if item["path"].startswith(prefix)
            and (recursive or "/" not in item["path"][len(prefix) :])
        ]
        if folder and not found:
            raise _RouteError(404, "EntryNotFound")
        self.answer(found)

    def paths_info(self, name: str, revision: str) -> None:
        _, files = self.at(name, revision)
        wanted = json.loads(self.body)["paths"]
        folders = directories(files)
        found = [entry(path, files[path]) for path in wanted if path in files]
        self.answer(found + [directory(path) for path in wanted if path in folders])

    def resolve(self, name: str, revision: str, path: str) -> None:
        oid, files = self.at(name, revision)
        if path not in files:
            raise _RouteError(404, "EntryNotFound")
        data, headers = files[path], {"X-Repo-Commit": oid, "Accept-Ranges": "bytes"}
        headers |= {"ETag": f'"{file_oid(path, data)}"', "X-Linked-Size": str(len(data))}
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if not wanted:
            return self.answer(data, 200, headers)
        start, end = int(wanted[1]), int(wanted[2] or len(data) - 1)
        headers["Content-Range"] = f"bytes {start}-{min(end, len(data) - 1)}/{len(data)}"
        self.answer(data[start : end + 1], 206, headers)


def file_oid(path: str, data: bytes) -> str:
    """What git or LFS calls these bytes."""
    if path.endswith(".parquet"):
        return hashlib.sha256(data).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def preuploaded(path: str, files: Files) -> dict[str, Any]:
    mode = "lfs" if path.endswith(".parquet") else "regular"
    oid = file_oid(path, files[path]) if path in files else None
    return {"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": oid}


def entry(path: str, data: bytes) -> dict[str, Any]:
    oid = file_oid(path, data)
    lfs = {"lfs": {"oid": oid, "size": len(data), "pointerSize": 130}}
    found = {"type": "file", "path": path, "size": len(data), "oid": oid}
    return found | (lfs if path.endswith(".parquet") else {})


def directory(path: str) -> dict[str, Any]:
    return {"type": "directory", "path": path, "size": 0, "oid": "0" * 40}


def directories(files: Files) -> list[str]:
    parents = (path.split("/")[:-1] for path in files)
    return sorted({"/".join(parts[: n + 1]) for parts in parents for n in range(len(parts))})


NAME = r"([^/]+/[^/]+)"
API = rf"/api/datasets/{NAME}"
ROUTES: list[tuple[str, str, Callable[..., None]]] = [
    ("POST", r"/api/repos/create", _Handler.create),
    ("POST", r"/api/validate-yaml", _Handler.validate_yaml),
    ("GET", API, _Handler.describe),
    ("GET", rf"{API}/revision/([^/]+)", _Handler.describe),
    ("GET", rf"{API}/refs", _Handler.refs),
    ("POST", rf"{API}/preupload/([^/]+)", _Handler.preupload),
    ("POST", rf"{API}/commit/([^/]+)", _Handler.commit),
    ("GET", rf"{API}/tree/([^/]+)", _Handler.tree),
    ("GET", rf"{API}/tree/([^/]+)/(.+)", _Handler.tree),
    ("POST", rf"{API}/paths-info/([^/]+)", _Handler.paths_info),
    ("POST", rf"/datasets/{NAME}\.git/info/lfs/objects/batch", _Handler.lfs_batch),
    ("PUT", r"/lfs-put/([0-9a-f]{64})", _Handler.lfs_put),
    ("GET", rf"/datasets/{NAME}/resolve/([^/]+)/(.+)", _Handler.resolve),
]

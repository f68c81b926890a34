"""A small Hub for tests: dataset repositories in memory, over HTTP, with the standard library.

It serves the routes that `huggingface_hub` and `datasets` use without Xet (its protocol is not
covered: set `HF_HUB_DISABLE_XET=1` for the clients), and it can be told to fail.

    with serve() as hub:
        checkout.extra_env |= hub.environment("tester/pairs", folder_of_the_client)
        ...
        hub.files("tester/pairs")            # what main holds
        hub.repositories["tester/pairs"]     # commits, tags, pull requests
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from .hub_git import Files, GitError, Repository

TOKEN = "hf_test"
READ_TOKEN = "hf_readonly"


@dataclass
class Fault:
    """What goes wrong with the next `times` requests that match."""

    path: str
    """Regular expression for the start of the path."""
    method: str = ""
    """Empty for every method."""
    status: int = 0
    """The answer's status; 0 drops the connection instead."""
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1
    after_bytes: int = 0
    """How much of the request's body is read before the connection is dropped."""
    done: bool = False
    """Whether the request is carried out before its answer is lost."""
    skip: int = 0
    """Matching requests that are served well before."""
    hold: threading.Event | None = None
    """The request waits until this is set, and is then served well."""
    reached: threading.Event = field(default_factory=threading.Event)
    """Set once the fault begins."""


@dataclass
class Hub:
    """State shared by all requests."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    objects: dict[str, bytes] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    """Method and path of every request, in order."""
    users: dict[str, str] = field(default_factory=lambda: {TOKEN: "tester", READ_TOKEN: "reader"})
    """Names by token."""
    writers: set[str] = field(default_factory=lambda: {TOKEN})
    endpoint: str = ""
    spoil: Callable[[Files], Files] = dict
    """What becomes of the files of each commit that is sent."""
    lock: threading.RLock = field(default_factory=threading.RLock)

    def files(self, name: str, revision: str = "main") -> Files:
        """Every file of a revision."""
        return self.repositories[name].find(revision).files

    def tags(self, name: str) -> dict[str, str]:
        """Commits by tag."""
        prefix = "refs/tags/"
        refs = self.repositories[name].refs.items()
        return {ref.removeprefix(prefix): oid for ref, oid in refs if ref.startswith(prefix)}

    def environment(self, repository: str, home: Path) -> dict[str, str]:
        """What a process needs to publish here, or to read from here."""
        return {
            "CASS_HUB_REPOSITORY": repository,
            "HF_ENDPOINT": self.endpoint,
            "HF_TOKEN": TOKEN,
            "HF_HOME": str(home),
            "HF_HUB_DISABLE_XET": "1",
        }

    def fault_for(self, method: str, path: str) -> Fault | None:
        """The first fault that is still to happen to such a request; counts it."""
        with self.lock:
            for fault in self.faults:
                if fault.times and method == (fault.method or method):
                    if not re.match(fault.path, path):
                        continue
                    if fault.skip:
                        fault.skip -= 1
                        continue
                    fault.times -= 1
                    return fault
        return None


@contextmanager
def serve() -> Iterator[Hub]:
    """A running Hub on a free port of this machine, until the block ends."""
    hub, stop = start()
    try:
        yield hub
    finally:
        stop()


def start() -> tuple[Hub, Any]:
    """A running Hub, and the function that stops it: for fixtures that are no context managers."""
    from .hub_routes import Routes

    hub = Hub()
    handler = type("Handler", (_Handler,), {"hub": hub, "routes": Routes(hub)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True  # a client that keeps its connection must not keep the test
    server.block_on_close = False
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()

    def stop() -> None:
        server.shutdown()
        thread.join()
        server.server_close()

    return hub, stop


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    routes: Any
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Tests are silent."""

    def handle_request(self) -> None:
        path = urlsplit(self.path).path
        method = self.command.replace("HEAD", "GET")
        with self.hub.lock:
            self.hub.requests.append(f"{self.command} {path}")
        fault = self.hub.fault_for(method, path)
        if fault:
            fault.reached.set()
        if fault and fault.hold:
            fault.hold.wait()
            fault = None
        if fault and not fault.status and not fault.done:
            self.rfile.read(min(fault.after_bytes, int(self.headers.get("Content-Length") or 0)))
            return self.drop()
        body = self.read_body()
        try:
            if fault and fault.status:
                return self.answer({"error": "fault"}, fault.status, fault.headers)
            status, value, headers = self.serve(method, path, body)
        except GitError as failure:
            status, value = failure.status, {"error": str(failure)}
            headers = {"X-Error-Code": failure.code, "X-Error-Message": str(failure)}
        if fault and fault.done:
            return self.drop()
        self.answer(value, status, headers)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_request  # noqa: N815

    def serve(self, method: str, path: str, body: bytes) -> tuple[int, Any, dict[str, str]]:
        for wanted, pattern, route in self.routes.table:
            found = re.fullmatch(pattern, path)
            if found and method == wanted:
                names = [unquote(text) for text in found.groups() if text is not None]
                self.authorize(method, path, names[0] if names else "")
                with self.hub.lock:
                    answer = route(self.request_of(body), *names)
                return answer if isinstance(answer, tuple) else (200, answer, {})
        raise GitError(404, "RouteNotFound", f"no route for {method} {path}")

    def request_of(self, body: bytes) -> Any:
        from .hub_routes import Request

        user = self.hub.users.get(self.token, "")
        return Request(user, body, urlsplit(self.path).query, self.headers.get("Range") or "")

    @property
    def token(self) -> str:
        return (self.headers.get("Authorization") or "").removeprefix("Bearer ")

    def authorize(self, method: str, path: str, name: str) -> None:
        """Private repositories do not exist for strangers, as on the Hub."""
        if path.startswith("/lfs-put/"):
            return
        token = self.token
        if token and token not in self.hub.users:
            raise GitError(401, "Unauthorized", "Invalid credentials in Authorization header")
        known = self.hub.repositories.get(name)
        if known and known.private and not token:
            raise GitError(401, "RepoNotFound", "Repository not found")
        reads = method == "GET" or path.endswith(("/paths-info", "/validate-yaml"))
        if not reads and "/paths-info/" not in path and token not in self.hub.writers:
            message = "you must use a write token to upload to a repository."
            raise GitError(403 if token else 401, "Forbidden", message)

    def read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        sizes = iter(lambda: int(self.rfile.readline() or b"0", 16), 0)
        # Each chunk ends with CR LF.
        body = b"".join(self.rfile.read(size + 2)[:-2] for size in sizes)
        self.rfile.readline()
        return body

    def drop(self) -> None:
        """Closes the connection without an answer."""
        self.close_connection = True
        self.connection.close()

    def answer(self, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

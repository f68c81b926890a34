"""A real S3-compatible server, and a proxy before it that fails as it is told."""

from __future__ import annotations

import contextlib
import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import boto3
from moto.server import ThreadedMotoServer

BUCKET = "archive"
ERROR = "<Error><Code>{code}</Code><Message>told to</Message></Error>"


@dataclass
class Bucket:
    """The server's bucket, asked through the proxy."""

    endpoint: str
    """The proxy's address."""
    server: str
    faults: list[Callable[[BaseHTTPRequestHandler], bool]] = field(default_factory=list)
    """Each is used for one request; it returns whether it has answered."""
    asked: list[str] = field(default_factory=list)
    """Path of every request."""
    at_once: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def location(self) -> str:
        """As the settings name it."""
        return f"s3://{BUCKET}/content"

    def put(self, blobs: dict[str, bytes]) -> None:
        """Stores blobs, without going through the proxy."""
        client = boto3.client(
            "s3",
            endpoint_url=self.server,
            region_name="us-east-1",
            aws_access_key_id="key",
            aws_secret_access_key="secret",
        )
        for blob_id, packed in blobs.items():
            key = f"content/{blob_id}"
            client.put_object(Bucket=BUCKET, Key=key, Body=packed, ACL="public-read")

    @contextmanager
    def counted(self, path: str) -> Iterator[None]:
        """One request, from its arrival to its answer."""
        with self.lock:
            self.asked.append(path)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            yield
        finally:
            with self.lock:
                self.at_once -= 1

    def next_fault(self) -> Callable[[BaseHTTPRequestHandler], bool] | None:
        """The fault of this request, if there is one."""
        with self.lock:
            return self.faults.pop(0) if self.faults else None


def refuse(status: int, code: str) -> Callable[[BaseHTTPRequestHandler], bool]:
    """An answer with an S3 error."""

    def fault(request: BaseHTTPRequestHandler) -> bool:
        body = ERROR.format(code=code).encode()
        request.send_response(status)
        request.send_header("Content-Type", "application/xml")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)
        return True

    return fault


def hang_up(request: BaseHTTPRequestHandler) -> bool:
    """The connection ends before the answer."""
    request.close_connection = True
    return True


def break_off(request: BaseHTTPRequestHandler) -> bool:
    """The connection ends in the middle of the answer."""
    request.send_response(200)
    request.send_header("Content-Length", "1000")
    request.end_headers()
    request.wfile.write(b"\x1f\x8b")
    request.close_connection = True
    return True


@contextmanager
def bucket_server() -> Iterator[Bucket]:
    """An empty bucket, its server and its proxy, as long as the block runs."""
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    server = f"http://{host}:{port}"
    proxy = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    bucket = Bucket(f"http://127.0.0.1:{proxy.server_address[1]}", server)
    proxy.RequestHandlerClass = _handler(bucket)
    thread = threading.Thread(target=proxy.serve_forever)
    thread.start()
    try:
        boto3.client(
            "s3",
            endpoint_url=server,
            region_name="us-east-1",
            aws_access_key_id="key",
            aws_secret_access_key="secret",
        ).create_bucket(Bucket=BUCKET)
        yield bucket
    finally:
        proxy.shutdown()
        proxy.server_close()
        thread.join()
        moto.stop()


def _handler(bucket: Bucket) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with bucket.counted(self.path):
                fault = bucket.next_fault()
                # Who asked may have been killed meanwhile.
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    if fault is None or not fault(self):
                        self._forward()

        def _forward(self) -> None:
            server = http.client.HTTPConnection(urlsplit(bucket.server).netloc)
            headers = {k: v for k, v in self.headers.items() if k.lower() != "host"}
            server.request("GET", self.path, headers=headers)
            answer = server.getresponse()
            body = answer.read()
            server.close()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in {"content-length", "transfer-encoding", "connection"}:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Requests are counted by the tests that care."""

    return Handler

"""`dagster dev` in a checkout, as `make ui` starts it, with its log at hand."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.checkout import Checkout


@contextmanager
def dagster_dev(checkout: Checkout, log: Path) -> Iterator[str]:
    """Yields the address of the web page; afterwards none of its processes is left."""
    port = _free_port()
    with log.open("w") as stream:
        process = subprocess.Popen(
            ["dagster", "dev", "-w", "workspace.yaml", "-p", str(port)],
            cwd=checkout.folder,
            env=checkout.env | {"DAGSTER_HOME": str(checkout.folder)},
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        while not _answers(f"{address}/server_info"):
            assert process.poll() is None, log.read_text()[-3000:]
            time.sleep(0.2)
        yield address
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    return port


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, ConnectionError):
        return False

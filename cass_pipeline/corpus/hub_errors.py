"""What goes wrong with a Hub: waiting and trying again, or an error that says what to do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from cass_pipeline.errors import ConfigurationError, InfrastructureError
from cass_pipeline.stage import Log

Result = TypeVar("Result")

_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Patience:
    """How long a Hub that fails is tried again.

    The client itself waits and retries where it transfers files, but not where it creates,
    merges or tags.
    """

    attempts: int = 5
    first_wait: float = 1.0
    """Seconds; each wait is twice the one before."""
    longest_wait: float = 600.0
    """Seconds; a Hub that asks for more (`Retry-After`) is given up on."""

    def call(self, what: Callable[[], Result], log: Log) -> Result:
        """Calls `what`, which must be safe to repeat, until it succeeds or fails for good."""
        for attempt in range(1, self.attempts):
            try:
                return what()
            except Exception as error:
                wait = self._wait_for(error, attempt)
                if wait is None:
                    raise
                log(f"the Hub failed ({short(error)}); trying again in {wait:.0f} s")
                time.sleep(wait)
        return what()

    def _wait_for(self, error: Exception, attempt: int) -> float | None:
        """Seconds to wait before the next attempt; None where it would not help."""
        cause = _cause(error)
        if cause is None or not _is_transient(cause):
            return None
        asked = _retry_after(cause)
        wait = self.first_wait * 2 ** (attempt - 1) if asked is None else asked
        return wait if wait <= self.longest_wait else None


@contextmanager
def named_errors(repository: str, endpoint: str) -> Iterator[None]:
    """Names the client's errors by what the caller should do next.

    Raises:
        ConfigurationError: the Hub refuses the token, or the name of the repository.
        InfrastructureError: the Hub cannot be reached or fails.
    """
    from huggingface_hub.errors import HFValidationError

    try:
        yield
    except HFValidationError as error:
        raise ConfigurationError(
            f"{repository!r} is not the name of a repository, which is owner/name: {error}"
        ) from error
    except Exception as error:
        cause = _cause(error)
        if cause is None:
            raise
        raise _named(cause, repository, endpoint or "its default address") from error


def status_of(error: Exception) -> int:
    """The HTTP status of an error of the client; 0 where there was no answer."""
    response = getattr(error, "response", None)
    return int(response.status_code) if response is not None else 0


def short(error: Exception) -> str:
    """The first line: the rest of the client's message repeats the address and a request id."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


def _cause(error: Exception) -> Exception | None:
    """The failed request; the client wraps what stops the upload of one file."""
    from httpx2 import HTTPError

    if isinstance(error, HTTPError | OSError):
        return error
    wrapped = error.__cause__
    if isinstance(error, RuntimeError) and isinstance(wrapped, HTTPError | OSError):
        return wrapped
    return None


def _is_transient(error: Exception) -> bool:
    from httpx2 import TransportError

    unreachable = isinstance(error, TransportError | ConnectionError | TimeoutError)
    return status_of(error) in _TRANSIENT or (unreachable and not _lacks_xet(error))


def _lacks_xet(error: Exception) -> bool:
    """Whether the Hub does not know the client's default protocol; said in the text alone."""
    return "xet-write-token" in str(error) and "404" in str(error)


def _retry_after(error: Exception) -> float | None:
    """Seconds that the Hub asks to wait: one of two headers, or nothing."""
    # Exported on purpose, but not in the way that mypy asks for.
    from huggingface_hub.utils import parse_ratelimit_headers  # type: ignore[attr-defined]

    response = getattr(error, "response", None)
    if response is None:
        return None
    limit = parse_ratelimit_headers(response.headers)
    if limit is not None and limit.remaining == 0:
        return float(limit.reset_in_seconds)
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isdigit() else None


def _named(
    error: Exception, repository: str, endpoint: str
) -> ConfigurationError | InfrastructureError:
    from huggingface_hub.errors import OfflineModeIsEnabled

    if isinstance(error, OfflineModeIsEnabled):
        return ConfigurationError("the Hub client is in offline mode: unset HF_HUB_OFFLINE")
    status, said = status_of(error), short(error)
    if _lacks_xet(error):
        return ConfigurationError(
            f"the Hub at {endpoint} does not speak Xet, the client's default protocol: set "
            f"HF_HUB_DISABLE_XET=1 for the classic one ({said})"
        )
    if not status:
        return InfrastructureError(
            f"the Hub at {endpoint} cannot be reached: check the network and run it again ({said})"
        )
    remedy = _REMEDIES.get(status)
    if remedy:
        owner = repository.partition("/")[0]
        return ConfigurationError(
            f"the Hub refuses to publish to {repository}: "
            f"{remedy.format(owner=owner, repository=repository)} ({said})"
        )
    again = " later: it asks for fewer requests" if status == 429 else ""
    return InfrastructureError(
        f"the Hub failed while {repository} was published; run it again{again}. What is uploaded "
        f"stays uploaded ({said})"
    )


_REMEDIES = {
    401: (
        "it does not accept the token. Check that the token is valid (neither expired nor "
        "revoked) and that it may write; make a new one in the Hub's settings, under "
        "Access Tokens, and set HF_TOKEN"
    ),
    403: (
        "the token is valid but not allowed to do this. Use a token with write permission of a "
        "member of {owner}, and check that the repository's settings allow pull requests"
    ),
    404: (
        "check that {owner} exists, that {repository} is spelt right, and that the token's "
        "owner may see and write it"
    ),
}

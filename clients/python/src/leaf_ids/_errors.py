"""The errors of the client."""

from __future__ import annotations

from typing import Optional

_KNOWN = frozenset(
    "LEAF_" + name
    for name in (
        "TAG_INVALID SIZE_INVALID ID_INVALID BODY_INVALID REQUEST_INVALID PERIOD_INVALID UNAUTHORIZED FORBIDDEN "
        "WINDOWS_DISABLED TAG_NOT_FOUND CLIENT_NOT_FOUND NUMBER_NOT_FOUND LEASE_NOT_FOUND NOT_FOUND "
        "METHOD_NOT_ALLOWED TAG_EXISTS MAX_ID_BACKWARDS TAG_PERIODIC TAG_NOT_PERIODIC TAG_GAPLESS TAG_NOT_GAPLESS "
        "NUMBER_EXISTS NUMBER_SETTLED REQUEST_TIMEOUT BODY_TOO_LARGE URL_TOO_LONG MEDIA_TYPE_UNSUPPORTED "
        "TOO_MANY_FAILURES QUOTA_EXCEEDED HEADERS_TOO_LARGE INTERNAL ID_TOO_LARGE SEGMENT_DISABLED "
        "SNOWFLAKE_DISABLED NOT_READY OVERLOADED SEGMENT_UNAVAILABLE STORE_UNAVAILABLE STORE_BACKWARDS TAG_PAUSED "
        "TAG_EXHAUSTED NUMBERS_HISTORY_LOST TAG_ROW_INVALID CLOCK_BACKWARDS LEASE_EXPIRED LEASE_LOST "
        "EPOCH_EXHAUSTED REGISTRY_UNREACHABLE SERVERS_UNAVAILABLE CONFIG_INVALID LAYOUT_INVALID LAYOUT_MISMATCH "
        "REGISTRY_MISMATCH CLOCK_BEHIND WORKER_HELD WORKERS_USED_UP CLOCK_OFFSET WORKER_UNASSIGNED "
        "WORKER_FILE_INVALID DATABASE_UNUSABLE DATA_DIR_UNUSABLE PORT_UNUSABLE"
    ).split()
)
_RETRYABLE = frozenset(
    "LEAF_" + name
    for name in (
        "QUOTA_EXCEEDED NOT_READY OVERLOADED SEGMENT_UNAVAILABLE STORE_UNAVAILABLE STORE_BACKWARDS CLOCK_BACKWARDS "
        "LEASE_EXPIRED REGISTRY_UNREACHABLE SERVERS_UNAVAILABLE"
    ).split()
)


class LeafError(Exception):
    """The only exception of the client's methods for a failed call.

    ``code`` is one of the codes in docs/errors.md, ``retry_after_ms`` says when to retry, in milliseconds from now, and
    ``status`` is the HTTP status of a server's refusal; both are None if unknown.
    """

    def __init__(
        self, code: str, message: str, *, status: Optional[int] = None, retry_after_ms: Optional[int] = None
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.status = status
        self.retry_after_ms = retry_after_ms

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later without a change to a setting or a row."""
        return self.code in _RETRYABLE

    def fresh(self) -> LeafError:
        """A copy for one more ``raise``: an exception that is raised twice collects the tracebacks of both."""
        copy = LeafError(self.code, self.message, status=self.status, retry_after_ms=self.retry_after_ms)
        copy.__cause__ = self.__cause__
        return copy


class ServerFault(Exception):
    """No response of a server, or an invalid one. Never leaves the client."""

    def __init__(self, message: str, retry_after_ms: Optional[int] = None) -> None:
        super().__init__(message)
        self.retry_after_ms = retry_after_ms


def is_known(code: str) -> bool:
    """Whether this version of the client knows the code."""
    return code in _KNOWN


def forked_error() -> LeafError:
    return LeafError(
        "LEAF_NOT_READY",
        "This process was forked without the hooks of Python, so it has the IDs and the worker ID of its parent, and cannot "
        "start threads. Have the hooks called (uWSGI: py-call-osafterfork = true), or create the client after the fork.",
    )


def reentrant_error() -> LeafError:
    return LeafError(
        "LEAF_OVERLOADED",
        "A signal handler, a finalizer or a log handler took an ID while its thread was inside of another call of this "
        "client. Take it later.",
        retry_after_ms=1,
    )


def closed_error() -> LeafError:
    return LeafError("LEAF_NOT_READY", "This Leaf client is closed. Create a new one to get IDs.")

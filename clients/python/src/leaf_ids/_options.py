"""The options of the client, with their defaults and checks."""

from __future__ import annotations

import re
import socket
import ssl
import time
from dataclasses import dataclass, field
from typing import Callable, List, Optional, Sequence, Tuple, Union
from urllib.parse import SplitResult, urlsplit

from ._errors import LeafError
from ._layout import BitLayout

Token = Union[str, Callable[[], str]]

MAX_COUNT = 10_000
MAX_RANGE = 1_000_000
_TAG = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


@dataclass(frozen=True)
class Server:
    """A Leaf server: an http or https URL with an optional path, and its zone."""

    url: str
    zone: Optional[str] = None


@dataclass(frozen=True)
class SegmentOptions:
    """Prefetch of each tag: IDs per request, and how long the IDs of one request should last, in milliseconds."""

    min_size: int = 100
    max_size: int = MAX_RANGE
    duration_ms: int = 10_000


@dataclass(frozen=True)
class EjectionOptions:
    """Failures in a row that eject a server, and how long, in milliseconds; the time doubles with each ejection."""

    failures: int = 2
    first_ms: int = 250
    max_ms: int = 10_000


@dataclass(frozen=True)
class WindowOptions:
    """The worker window of ``snowflake()``: its length in milliseconds, the name of this process for people (the host
    name by default), and a token of ``LEAF_WORKER_TOKENS`` (the token of the client by default)."""

    window_ms: int = 60_000
    holder: Optional[str] = None
    token: Optional[Token] = field(default=None, repr=False)


@dataclass(frozen=True)
class Options:
    servers: Sequence[Union[str, Server]]
    zone: Optional[str] = None
    token: Optional[Token] = field(default=None, repr=False)
    timeout_ms: int = 5000
    request_timeout_ms: int = 1500
    max_requests: int = 32
    max_waiting: int = 10_000
    segment: SegmentOptions = field(default_factory=SegmentOptions)
    ejection: EjectionOptions = field(default_factory=EjectionOptions)
    window: WindowOptions = field(default_factory=WindowOptions)
    layout: Optional[BitLayout] = None
    ssl_context: Optional[ssl.SSLContext] = None
    wall_ns: Callable[[], int] = time.time_ns

    def __post_init__(self) -> None:
        """Raises LeafError ``LEAF_CONFIG_INVALID`` that lists all faults."""
        faults = _server_faults(self.servers)
        segment, ejection, window = self.segment, self.ejection, self.window
        for name, value, low, high in (
            ("timeout_ms", self.timeout_ms, 1, 86_400_000),
            ("request_timeout_ms", self.request_timeout_ms, 1, 86_400_000),
            ("max_requests", self.max_requests, 1, 10_000),
            ("max_waiting", self.max_waiting, 1, 1_000_000),
            ("segment.min_size", segment.min_size, 1, MAX_RANGE),
            ("segment.max_size", segment.max_size, 1, MAX_RANGE),
            ("segment.duration_ms", segment.duration_ms, 1, 86_400_000),
            ("ejection.failures", ejection.failures, 1, 1000),
            ("ejection.first_ms", ejection.first_ms, 1, 86_400_000),
            ("ejection.max_ms", ejection.max_ms, 1, 86_400_000),
            ("window.window_ms", window.window_ms, 10_000, 86_400_000),
        ):
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                faults.append(f"{name} must be a whole number from {low} to {high}")
            elif name == "segment.max_size" and value < segment.min_size:
                faults.append("segment.max_size must not be less than segment.min_size")
            elif name == "ejection.max_ms" and value < ejection.first_ms:
                faults.append("ejection.max_ms must not be less than ejection.first_ms")
        for name, token in (("token", self.token), ("window.token", window.token)):
            if token is not None and not callable(token) and not is_token(token):
                faults.append(f"{name} must be a function or text that a header can carry")
        if window.holder is not None and not (0 < len(window.holder) < 128 and window.holder.isprintable()):
            faults.append("window.holder must be 1 to 127 printable characters")
        if faults:
            raise LeafError("LEAF_CONFIG_INVALID", "Invalid options of LeafClient: " + "; ".join(faults) + ".")

    @property
    def addresses(self) -> List[Tuple[SplitResult, Optional[str]]]:
        servers = [Server(server) if isinstance(server, str) else server for server in self.servers]
        return [(urlsplit(server.url), server.zone) for server in servers]

    @property
    def holder(self) -> str:
        return self.window.holder or socket.gethostname() or "leaf-client"


def is_token(value: object) -> bool:
    return isinstance(value, str) and _TOKEN.fullmatch(value) is not None


def check_tag(tag: str) -> None:
    """Raises LeafError ``LEAF_TAG_INVALID``."""
    if not isinstance(tag, str) or not _TAG.fullmatch(tag) or tag in (".", ".."):
        rule = '1 to 128 letters, digits, "-", "_", "." or ":", but not "." or ".."'
        raise LeafError("LEAF_TAG_INVALID", f"{str(tag)[:40]!r} is not a valid tag; use {rule}.")


def check_count(count: int) -> None:
    """Raises LeafError ``LEAF_SIZE_INVALID``."""
    if not isinstance(count, int) or not 1 <= count <= MAX_COUNT:
        raise LeafError("LEAF_SIZE_INVALID", f"The size must be a whole number from 1 to {MAX_COUNT}.")


def _server_faults(servers: object) -> List[str]:
    if isinstance(servers, str) or not isinstance(servers, Sequence) or not servers:
        return ["servers must be a list of at least one server"]
    faults = []
    urls = set()
    for index, server in enumerate(servers):
        url = server.url if isinstance(server, Server) else server
        try:
            parts = urlsplit(url)
            valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except (AttributeError, TypeError, ValueError):
            valid = False
        if not valid or not url.isascii() or not url.isprintable() or " " in url:
            faults.append(f"servers[{index}] must be an http or https URL")
        elif parts.username is not None or parts.query or parts.fragment:
            faults.append(f"servers[{index}] must have no user, password, query or fragment")
        elif url.rstrip("/") in urls:
            faults.append(f"servers[{index}] is listed twice")
        else:
            urls.add(url.rstrip("/"))
    return faults

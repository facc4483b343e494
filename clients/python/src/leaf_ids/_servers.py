"""Which server gets a request, and what its answer says about its health."""

from __future__ import annotations

import hashlib
import json
import random
import secrets
import threading
import time
from logging import INFO, WARNING
from typing import Callable, Dict, List, Mapping, Optional, Set, TypeVar
from urllib.parse import SplitResult, urlunsplit

from ._answers import parse, refusal_of
from ._errors import LeafError, ServerFault
from ._http import Answer, Connections
from ._options import EjectionOptions, Options, Token
from ._workers import log_later

T = TypeVar("T")
Read = Callable[[object], T]

#: How long a server that refused without Retry-After gets no further request for the tag, in milliseconds.
_BACK_OFF_MS = 1000
_HEADERS = {"accept": "application/json, application/problem+json", "cache-control": "no-store"}


def monotonic_ms() -> float:
    return time.monotonic() * 1000


def backoff_ms(attempt: int, first_ms: float, max_ms: float) -> float:
    """Between half and all of ``first_ms``, doubled for each further attempt, at most ``max_ms``."""
    full: float = min(max_ms, first_ms * 2.0 ** min(attempt - 1, 30))
    return full * (0.5 + random.random() / 2)


class Server:
    """A server with its health: serving; ejected after failures in a row; then one request probes it."""

    def __init__(self, url: SplitResult, zone: Optional[str], options: Options) -> None:
        self.url = urlunsplit(url)
        self.zone = zone
        self.connections = Connections(url, options.ssl_context)
        self.last_error: Optional[Exception] = None
        self.requests = self.failures = self.failures_in_row = self._ejections = 0
        self._ejection: EjectionOptions = options.ejection
        self._ejected_until = self._held_until = self._failed_at = 0.0
        self._probing = False

    @property
    def state(self) -> str:
        if self._ejections == 0:
            return "serving"
        return "ejected" if monotonic_ms() < self._ejected_until else "probation"

    @property
    def admits(self) -> bool:
        state = self.state
        return state == "serving" or (state == "probation" and not self._probing)

    @property
    def admits_in_need(self) -> bool:
        """Whether one more request may be sent when no other server is left."""
        now = monotonic_ms()
        rested = now >= self._held_until and now >= self._failed_at + self._ejection.first_ms
        return self.admits or (not self._probing and rested)

    def begin(self) -> None:
        self.requests += 1
        self._probing = self._ejections > 0

    def succeeded(self) -> None:
        if self._ejections:
            log_later(INFO, "Leaf server %s is used again", self.url)
        self.failures_in_row = self._ejections = 0
        self._probing = False
        self.last_error = None

    def failed(self, error: Exception, retry_after_ms: Optional[int]) -> None:
        now = monotonic_ms()
        # The failure of a request that was sent before the ejection is no new information.
        late = self.state == "ejected" and not self._probing
        self.failures += 1
        self.failures_in_row += 1
        self.last_error = error
        self._probing = False
        self._failed_at = now
        self._held_until = max(self._held_until, now + (retry_after_ms or 0))
        few = self._ejections == 0 and self.failures_in_row < self._ejection.failures and retry_after_ms is None
        if late or few:
            return
        self._ejections += 1
        rest = max(backoff_ms(self._ejections, self._ejection.first_ms, self._ejection.max_ms), retry_after_ms or 0)
        self._ejected_until = now + rest
        log_later(WARNING, "Leaf server %s gets no requests for %d ms: %s", self.url, rest, error)


class Policy:
    """The servers that refused requests of one kind, each until its Retry-After. Requests of one key prefer one server."""

    def __init__(self, key: str) -> None:
        self.key = key
        self._refusals: Dict[Server, LeafError] = {}
        self._since: Dict[Server, float] = {}

    def back_off(self, server: Server, refusal: LeafError) -> None:
        self._refusals[server] = refusal
        self._since[server] = monotonic_ms()

    def release(self, server: Server) -> None:
        self._refusals.pop(server, None)

    def refusal_of(self, server: Server) -> Optional[LeafError]:
        refusal = self._refusals.get(server)
        if refusal is None:
            return None
        rest = _BACK_OFF_MS if refusal.retry_after_ms is None else refusal.retry_after_ms
        return refusal if monotonic_ms() < self._since[server] + rest else None

    def admits_in_need(self, server: Server) -> bool:
        """Whether a server that refused may be asked before its time when no other is left: its reason may be gone."""
        return server not in self._refusals or monotonic_ms() >= self._since[server] + _BACK_OFF_MS


class Servers:
    """Sends requests. One without a valid response goes to another server at once: its IDs become a gap."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self.all = [Server(url, zone, options) for url, zone in options.addresses]
        self._seed = secrets.token_hex(8)
        self._lock = threading.RLock()
        self.closing = False

    def get(self, policy: Policy, path: str, read: Read[T]) -> T:
        """Requests IDs. Tries each server once. Raises LeafError, and nothing else."""

        def ask(server: Server) -> T:
            nonce = secrets.token_hex(16)
            answer = self._request(server, "GET", f"{path}&nonce={nonce}", b"", self._options.token)
            if answer.status != 200:
                raise refusal_of(answer)
            # Servers of earlier versions return no nonce.
            if answer.headers.get("leaf-nonce", nonce) != nonce:
                raise ServerFault(
                    "invalid response: it belongs to another request. A cache or proxy returns one response to several "
                    "clients; configure it to forward every request to /api/ and to cache no response"
                )
            return read(parse(answer))

        return self._ask_in_turn(policy, ask)

    def send(self, policy: Policy, method: str, path: str, body: Mapping[str, object], read: Read[T]) -> T:
        """Sends a request for a worker window, which is idempotent, as ``get``."""
        content = json.dumps(body).encode()
        token = self._options.window.token or self._options.token

        def ask(server: Server) -> T:
            answer = self._request(server, method, path, content, token)
            if answer.status not in (200, 201, 204):
                raise refusal_of(answer)
            return read(None if answer.status == 204 else parse(answer))

        return self._ask_in_turn(policy, ask)

    def close(self) -> None:
        self.closing = True
        for server in self.all:
            server.connections.close()

    def _request(self, server: Server, method: str, path: str, body: bytes, token: Optional[Token]) -> Answer:
        deadline = time.monotonic() + self._options.request_timeout_ms / 1000
        headers = dict(_HEADERS)
        if body:
            headers["content-type"] = "application/json"
        if token is not None:
            headers["authorization"] = f"Bearer {_value_of(token)}"
        try:
            return server.connections.request(method, path, headers, body, deadline)
        except (OSError, ValueError) as error:
            raise ServerFault(f"no response: {error or type(error).__name__}") from error

    def _ask_in_turn(self, policy: Policy, ask: Callable[[Server], T]) -> T:
        tried: Set[Server] = set()
        while not self.closing:
            with self._lock:
                server = self._next(policy, tried)
                if server is None:
                    break
                server.begin()
            tried.add(server)
            try:
                value = ask(server)
            except LeafError as error:
                with self._lock:
                    server.succeeded()
                    if not _is_final(error):
                        policy.back_off(server, error)
                        continue
                raise
            except Exception as error:  # a ServerFault, or what an answer led to that no rule foresaw
                with self._lock:
                    server.failed(error, getattr(error, "retry_after_ms", None))
            else:
                with self._lock:
                    server.succeeded()
                    policy.release(server)
                return value
        with self._lock:
            raise self._unavailable(policy)

    def _next(self, policy: Policy, tried: Set[Server]) -> Optional[Server]:
        untried = [server for server in self.all if server not in tried]
        able = _able([server for server in untried if policy.refusal_of(server) is None])
        able = able or _able([server for server in untried if policy.admits_in_need(server)])
        near = [server for server in able if server.zone == self._options.zone is not None]
        return max(near or able, key=lambda server: self._score(policy.key, server), default=None)

    def _score(self, key: str, server: Server) -> bytes:
        """Rendezvous hashing: each client spreads its keys over the servers, and a key moves only if its server fails."""
        return hashlib.blake2b(f"{self._seed} {server.url} {key}".encode(), digest_size=8).digest()

    def _unavailable(self, policy: Policy) -> LeafError:
        refusals = [policy.refusal_of(server) for server in self.all]
        given = [refusal for refusal in refusals if refusal is not None]
        if len(given) == len(refusals):
            return next((refusal for refusal in given if refusal.retryable), given[0]).fresh()
        causes = [
            f"{server.url}: {refusal or server.last_error or 'a probe after a failure is in progress'}"
            for server, refusal in zip(self.all, refusals)
        ]
        return LeafError(
            "LEAF_SERVERS_UNAVAILABLE",
            "No Leaf server is available. The client recovers by itself; check that the servers are up and reachable. "
            + "; ".join(causes),
            retry_after_ms=1000,
        )

    def snapshot(self) -> List[Dict[str, object]]:
        with self._lock:
            return [
                {
                    "url": server.url,
                    "zone": server.zone,
                    "state": server.state,
                    "requests": server.requests,
                    "failures": server.failures,
                    "failures_in_row": server.failures_in_row,
                    "last_error": None if server.last_error is None else str(server.last_error),
                }
                for server in self.all
            ]


def _able(servers: List[Server]) -> List[Server]:
    healthy = [server for server in servers if server.admits]
    return healthy or [server for server in servers if server.admits_in_need]


#: Refusals below 500 that another server may not repeat: it may have another range of worker IDs.
_OF_ONE_SERVER = ("LEAF_NOT_FOUND", "LEAF_REQUEST_TIMEOUT", "LEAF_WORKERS_USED_UP")


def _is_final(error: LeafError) -> bool:
    """Whether every other server would refuse likewise."""
    status = error.status or 0
    return status < 500 and status != 429 and error.code not in _OF_ONE_SERVER


def _value_of(token: Token) -> str:
    if isinstance(token, str):
        return token
    try:
        value = token()
    except BaseException as error:
        # The message of the cause can contain a secret: it is not repeated here.
        raise LeafError("LEAF_UNAUTHORIZED", "The token function failed; see the cause.", status=401) from error
    if isinstance(value, str) and all(" " <= character <= "~" for character in value):
        return value
    raise LeafError("LEAF_UNAUTHORIZED", "The token contains characters that a header cannot carry.", status=401)

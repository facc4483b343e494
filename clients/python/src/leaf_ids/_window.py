"""Keeps a worker ID: the rules of docs/worker-windows.md."""

from __future__ import annotations

import hashlib
import secrets
import time
from logging import INFO, WARNING
from typing import Callable, Dict, List, MutableSequence, Optional

from ._answers import Window, read_window, wrong
from ._calls import Call, Steps, settled
from ._errors import LeafError
from ._layout import BitLayout
from ._segments import Record, Tools
from ._servers import Policy, backoff_ms, monotonic_ms
from ._snowflake import CEILING, EXHAUSTED, Generator, Term
from ._workers import log_later

_PATH = "/api/workers"
_MARKS = 1000
#: A window is not extended again before this share of it has passed.
_SHORTEST_SHARE = 0.1
_LOST = ("LEAF_LEASE_LOST", "LEAF_LEASE_NOT_FOUND")


class Lease:
    """The requests under one lease. Each can be repeated: the servers then return the same window."""

    def __init__(self, tools: Tools) -> None:
        # Copies of a virtual machine may draw the same random bytes: the time tells their leases apart.
        text = f"{secrets.token_hex(16)} {time.time_ns()} {time.monotonic_ns()}"
        self._lease = hashlib.sha256(text.encode()).hexdigest()[:32]
        self._tools = tools
        self._policy = Policy(self._lease)
        #: ``known`` and ``mark``, or nothing: before the first answer, and for servers of earlier versions.
        self._progress: Dict[str, int] = {}

    def acquire(self) -> Window:
        options = self._tools.options
        body = {"lease": self._lease, "holder": options.holder, "windowMs": options.window.window_ms}
        window = self._tools.servers.send(self._policy, "POST", _PATH, body, lambda body: read_window(body, self._lease))
        self._progress = {"known": window.until}
        return window

    def extend(self, held: Window) -> Window:
        if self._progress:
            # The same mark for each try of one extension; mixed with the time as the lease.
            mark = (secrets.randbelow(_MARKS) + time.monotonic_ns() // 100) % _MARKS
            self._progress.setdefault("mark", mark)

        def read(body: object) -> Window:
            window = read_window(body, self._lease)
            if window.worker_id != held.worker_id or window.start != held.start:
                raise wrong("it is not the window that was to be extended")
            return window

        body = {"windowMs": self._tools.options.window.window_ms, "workerId": held.worker_id}
        window = self._tell("PUT", body, read)
        self._progress = {"known": window.until}
        return window

    def release(self, newest: int) -> None:
        self._tell("DELETE", {"lastTimestamp": newest}, lambda body: None)

    def _tell(self, method: str, body: Dict[str, int], read: Callable[[object], Optional[Window]]) -> Window:
        path = f"{_PATH}/{self._lease}"
        try:
            return self._tools.servers.send(self._policy, method, path, {**body, **self._progress}, read)  # type: ignore
        except LeafError as error:
            if not self._progress or error.code != "LEAF_BODY_INVALID":
                raise
        self._progress = {}
        return self._tools.servers.send(self._policy, method, path, body, read)  # type: ignore


class KeptWindow:
    """Acquires a worker ID, extends its window, and acquires another one after a loss.

    The steps run in the workers, one at a time, so that one request is under way at a time. ``generator.lock`` guards
    the fields.
    """

    def __init__(self, tools: Tools, alive: MutableSequence[int]) -> None:
        self._tools = tools
        self.layout: Optional[BitLayout] = tools.options.layout
        self.generator = Generator(tools.options.wall_ns, alive, _not_yet(), self.renew)
        self._record = Record("a worker ID")
        self._lease: Optional[Lease] = None
        self._held: Optional[Window] = None
        self._floor = -1
        self._keeping = self._asking = self._napping = self._final = False
        self._turn = 0
        self._attempts = self._losses = 0
        self._refused_until = self._renewable_at = 0.0
        #: Done at the next answer, failure, refusal or loss.
        self._changed = Call()
        #: Done when the worker ID was released, or could not be until the deadline.
        self.released = Call()
        self._release_until = 0.0

    def snowflakes(self, count: int) -> Steps[List[int]]:
        """The next ``count`` IDs; with 0, waits until one can be issued."""
        tools, generator = self._tools, self.generator
        deadline = monotonic_ms() + tools.options.timeout_ms
        ids: List[int] = []
        term = generator.term
        while True:
            changed = self._changed
            self.open()
            more, hold, error = generator.take(count - len(ids))
            ids += more
            if generator.term is not term:
                term = generator.term
                ids.clear()  # no ID of a lost worker
                if error is None:
                    continue
            if error is None:
                return ids
            left = deadline - monotonic_ms()
            if hold == EXHAUSTED and left > 0:
                yield None, 0.0005
                continue
            with generator.lock:
                if hold == CEILING:
                    self.renew()
                if self._final or not self._keeping or not error.retryable:
                    raise error
            if left <= 0:
                raise tools.late("a worker ID", self._record.error) if generator.ceiling < 0 else error
            yield from settled(changed, min(left, error.retry_after_ms or 1000, 1000), lambda call: None)

    def open(self) -> None:
        """Acquires a worker ID in the background, unless it is held, being acquired, or was just refused."""
        with self.generator.lock:
            if not (self._final or self._keeping or monotonic_ms() < self._refused_until):
                self.generator.refusal = _not_yet()
                self._schedule(0)
                self._keeping = True  # last: an exception of a signal handler may end this anywhere

    def renew(self) -> None:
        """Extends the window now, unless that was just done. Call with the lock held."""
        if self._napping and not self._final and monotonic_ms() >= self._renewable_at:
            self._schedule(0)
            self._napping = False

    def close(self, error: LeafError, deadline_ms: float) -> None:
        """Ends the issue of IDs and starts the release of the worker ID; ``released`` is then settled."""
        with self.generator.lock:
            self._end(error)
            self._final = True
            self._release_until = deadline_ms
            # The request under way may give or extend a window.
            asking = self._asking
        self._announce()
        if asking:
            return
        if self._lease is not None:
            self._tools.workers.submit(self._release)
        else:
            self._release()

    def snapshot(self) -> Dict[str, object]:
        generator = self.generator
        with generator.lock:
            return {
                "worker_id": None if generator.term is None else generator.term.worker_id,
                "from": None if self._held is None else self._held.start,
                "until": None if self._held is None else generator.ceiling,
                "last_timestamp": None if generator.timestamp < 0 else generator.timestamp,
                **self._record.view(),
            }

    def _schedule(self, delay_ms: float) -> None:
        turn = self._turn + 1
        self._tools.workers.submit(lambda: self._step(turn), delay_ms)
        self._turn = turn  # last: until then, the planned step counts

    def _step(self, turn: int) -> None:
        """Sends one request, in a worker, and plans the next."""
        generator = self.generator
        with generator.lock:
            if turn != self._turn or self._final or self._asking:
                return
            self._asking, self._napping = True, False
            # A request under the lease may have been refused after one whose answer was lost: keep it.
            lease = self._lease = self._lease or Lease(self._tools)
            held = self._held
        try:
            answer = lease.acquire() if held is None else lease.extend(held)
            error = self._mismatch(answer)
        except LeafError as refusal:
            error = refusal
        with generator.lock:
            self._asking, self._napping = False, error is None
            delay = self._accept(answer) if error is None else self._failed(error)
            if self._final:
                self._tools.workers.submit(self._release)
            elif delay is not None:
                self._schedule(delay)
        self._announce()

    def _mismatch(self, answer: Window) -> Optional[LeafError]:
        self.layout = self.layout or answer.layout
        if answer.layout == self.layout:
            return None
        return LeafError(
            "LEAF_LAYOUT_MISMATCH",
            f"The servers use the bit layout {answer.layout}, and this client {self.layout}. IDs of both can be equal, so "
            "this client issues no more snowflake IDs. Correct its option layout, or restart it after a change of the "
            "servers.",
        )

    def _accept(self, answer: Window) -> float:
        """The newest answer counts, also if its end is earlier. Returns when to extend, in milliseconds from now."""
        generator = self.generator
        self._record.succeeded()
        self._attempts = self._losses = 0
        wall = self._tools.options.wall_ns() // 1_000_000
        # By the clock that reaches the end first; but not again and again if the own one is far ahead.
        shortest = self._tools.options.window.window_ms * _SHORTEST_SHARE
        rest = max(shortest, min(answer.until - answer.now, answer.until - wall) / 2)
        self._renewable_at = monotonic_ms() + shortest
        generator.ceiling = answer.until
        generator.renew_after = int(wall + rest)
        generator.disarm()
        if self._held is None:
            self._held = answer
            # A clock that was set back must not repeat a timestamp of an earlier window of the same worker.
            self._floor = max(answer.start - 1, generator.timestamp)
            if not self._final:
                generator.term = Term(answer.worker_id, self._floor, answer.layout)
                log_later(INFO, "worker ID %d until %d", answer.worker_id, answer.until)
        return rest

    def _failed(self, error: LeafError) -> Optional[float]:
        """Returns when to try again, in milliseconds; None if a call has to."""
        if error.code in _LOST:
            self._lease = None
            self._losses += 1
            if self._held is not None:
                log_later(WARNING, "worker ID %d is lost: %s", self._held.worker_id, error)
                self._held = None
                self._end(
                    LeafError(
                        "LEAF_NOT_READY",
                        "This client no longer holds its worker ID: its window has ended, its lease was released, or a "
                        "copy of this process has extended the window. It acquires another one.",
                        retry_after_ms=1000,
                    )
                )
            return backoff_ms(self._losses, 25, 1000)
        self._record.failed(error)
        self._attempts += 1
        mismatch = error.code == "LEAF_LAYOUT_MISMATCH"
        if self._held is not None and not mismatch:
            return backoff_ms(self._attempts, 100, min(30_000, self._tools.options.window.window_ms / 20))
        if error.retryable:
            return backoff_ms(self._attempts, 25, 1000)
        self._keeping = False
        self._attempts = 0
        self._refused_until = float("inf") if mismatch else monotonic_ms() + 1000
        self._end(error)
        return None

    def _end(self, refusal: LeafError) -> None:
        if self._final:
            return
        self.generator.term = None
        self.generator.refusal = refusal
        self.generator.disarm()

    def _release(self) -> None:
        """Gives the worker ID back, with the newest timestamp under this lease."""
        generator, lease, held = self.generator, self._lease, self._held
        delay: Optional[float] = None
        if lease is not None:
            newest = 0
            if held is not None:
                newest = generator.timestamp if generator.timestamp > self._floor else held.start - 1
            try:
                lease.release(newest)
            except LeafError as error:
                self._attempts += 1
                delay = backoff_ms(self._attempts, 25, 1000)
                if not error.retryable or monotonic_ms() + delay >= self._release_until:
                    log_later(WARNING, "the worker ID stays reserved to the end of its window: %s", error)
                    delay = None
        if delay is not None:
            self._tools.workers.submit(self._release, delay)
            return
        with self._tools.lock:
            self.released.settle()

    def _announce(self) -> None:
        with self._tools.lock:
            changed, self._changed = self._changed, Call()
            changed.settle()


def _not_yet() -> LeafError:
    message = "This client has no worker ID yet. Call ready() or snowflakes(1), which wait for the servers."
    return LeafError("LEAF_NOT_READY", message, retry_after_ms=1000)

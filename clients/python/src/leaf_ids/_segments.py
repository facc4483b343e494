"""The IDs of tags: prefetched for an ordinary tag, requested for the waiting calls of a strict one."""

from __future__ import annotations

import threading
from collections import deque
from itertools import islice
from logging import WARNING
from operator import length_hint
from typing import Callable, Deque, Dict, Iterator, List, Optional, Sequence, Set, Tuple

from ._answers import read_ranges, wrong
from ._calls import Call
from ._errors import LeafError
from ._options import MAX_RANGE, Options
from ._servers import Policy, Servers, backoff_ms, monotonic_ms
from ._workers import Workers, log_later

#: The next request is sent when this share of the latest answer is used.
_PREFETCH_RATIO = 0.1
_RECENT_MS = 1000
_REMEMBERED = 32
_REPORT_EVERY = 100


class Tools:
    """What the buffers of one client share. The lock guards all buffers and calls."""

    def __init__(self, options: Options, workers: Workers, servers: Servers, table: Dict[str, Callable[[], int]]) -> None:
        self.options = options
        self.workers = workers
        self.servers = servers
        #: For each tag with IDs: returns the next ID, or raises StopIteration. Each ID is in one iterator only.
        self.table = table
        self.lock = threading.RLock()
        #: The waiting calls.
        self.calls: Set[Call] = set()
        self.closed: Optional[LeafError] = None
        #: Whether iterators have to be locked: without a global interpreter lock, they are not atomic.
        self.locked_iterators = False

    def enter(self, call: Call) -> None:
        """Counts a waiting call. Who ends it, by removing it from ``calls`` and by ``done``, does so without the lock and
        without a further call, so that a finalizer and an exception of a signal handler do no harm. Raises LeafError
        ``LEAF_OVERLOADED``."""
        if self.closed is not None:
            raise self.closed.fresh()
        if len(self.calls) >= self.options.max_waiting:
            raise LeafError(
                "LEAF_OVERLOADED",
                f"{len(self.calls)} calls already wait for IDs in this client. Retry later, or raise max_waiting.",
                retry_after_ms=1000,
            )
        self.calls.add(call)

    def late(self, what: str, cause: Optional[LeafError]) -> LeafError:
        """The error of a call that ran out of time: the last refusal of the servers, if there is one."""
        if cause is not None:
            return cause.fresh()
        message = f"No Leaf server returned {what} within {self.options.timeout_ms} ms (timeout_ms)."
        return LeafError("LEAF_SERVERS_UNAVAILABLE", message, retry_after_ms=1000)


class Record:
    """Counts requests and failures, and logs the first failure of a series and every 100th."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.loads = self.failures = self.failures_in_row = 0
        self.error: Optional[LeafError] = None

    def succeeded(self) -> None:
        self.loads += 1
        self.failures_in_row = 0
        self.error = None

    def failed(self, error: LeafError) -> None:
        if self.failures_in_row % _REPORT_EVERY == 0:
            log_later(WARNING, "no answer for %s: %s", self._name, error)
        self.failures += 1
        self.failures_in_row += 1
        self.error = error

    def view(self) -> Dict[str, object]:
        error = None if self.error is None else str(self.error)
        return {"loads": self.loads, "failures": self.failures, "last_error": error}


class Duplicates:
    """The newest 32 answers of one kind: an answer that repeats an ID of one of them is refused."""

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self._answers: Deque[Tuple[str, List[range]]] = deque(maxlen=_REMEMBERED)

    def add(self, ranges: List[range], period: str = "") -> None:
        """Raises ServerFault."""
        for known_period, known in self._answers:
            if known_period == period and _overlap(known, ranges):
                raise wrong(
                    f'it repeats IDs of tag "{self._tag}": a proxy caches responses, or the servers do not share one '
                    "database"
                )
        self._answers.append((period, ranges))


def _overlap(one: List[range], other: List[range]) -> bool:
    """Whether two lists of ascending ranges have an ID in common."""
    at = 0
    for ids in one:
        while at < len(other) and other[at].stop <= ids.start:
            at += 1
        if at < len(other) and other[at].start < ids.stop:
            return True
    return False


class LockedIterator(Iterator[int]):
    """An iterator whose steps are atomic without a global interpreter lock, too."""

    def __init__(self, ids: Iterator[int]) -> None:
        self._ids = ids
        self._lock = threading.Lock()

    def __next__(self) -> int:
        with self._lock:
            return next(self._ids)

    def __length_hint__(self) -> int:
        with self._lock:
            return length_hint(self._ids)


class RangeBuffer:
    """A double buffer of prefetched IDs. All methods need the lock; the hot path is ``tools.table`` alone.

    ``_current`` is the iterator in the table. It ends where the next request has to be sent, so that the hot path
    counts nothing: whoever finds it at its end sends the request and opens the next part.
    """

    def __init__(self, tag: str, tools: Tools, on_strict: Callable[[List[Call], int], None]) -> None:
        self._tag = tag
        self._tools = tools
        self._on_strict = on_strict
        self._policy = Policy(tag)
        self._duplicates = Duplicates(tag)
        self._record = Record(f"tag {tag}")
        self._current: Iterator[int] = iter(())
        self._queue: Deque[Sequence[int]] = deque()
        self._waiting: List[Call] = []
        self._size = self._low_mark = 0
        #: IDs per request: after a refusal because the tag has fewer left, it begins at 1 and doubles.
        self._most = MAX_RANGE
        self._loading = False
        self._started_at = 0.0
        self._refusal: Optional[LeafError] = None
        self._refused_until = 0.0

    @property
    def is_idle(self) -> bool:
        return not self._loading and not self._waiting and self._buffered() == 0

    def try_one(self) -> Optional[int]:
        while True:
            for id in self._current:
                return id
            if not self._advance():
                self._replenish()
                return None

    def begin(self, call: Call) -> None:
        """Serves the call, or lets it wait for a request."""
        if self._waiting or not self._serve(call):
            self._waiting.append(call)
            self._replenish()
            if not self._loading:
                self._refuse(self._refusal)

    def withdraw(self, call: Call) -> None:
        """Ends a call at its deadline."""
        if call in self._waiting:
            self._waiting.remove(call)
            if call.ids:
                self._queue.appendleft(call.ids)
        call.settle(self._tools.late(f"IDs of {self._tag}", self._record.error))

    def close(self, error: LeafError) -> None:
        self._refuse(error)
        self._queue.clear()
        self._tools.table.pop(self._tag, None)

    def snapshot(self) -> Dict[str, object]:
        own = {"tag": self._tag, "strict": False, "buffered": self._buffered(), "size": self._size}
        return {**own, "loading": self._loading, **self._record.view()}

    def _buffered(self) -> int:
        return length_hint(self._current) + sum(map(len, self._queue))

    def _advance(self) -> bool:
        """Opens the next part of the queue; it ends at the low mark, unless a request is under way."""
        if not self._queue:
            return False
        ids = self._queue.popleft()
        above = len(ids) + sum(map(len, self._queue)) - self._low_mark
        if above <= 0:
            self._replenish()
        elif not self._loading and above < len(ids):
            self._queue.appendleft(ids[above:])
            ids = ids[:above]
        self._current = iter(ids)
        if self._tools.locked_iterators:
            self._current = LockedIterator(self._current)
        self._tools.table[self._tag] = self._current.__next__
        return True

    def _serve(self, call: Call) -> bool:
        """Gives a call all of its IDs, if there are so many; those that another thread takes meanwhile may lack."""
        if call.done:
            return True
        if self._buffered() < call.count - len(call.ids):
            return False
        while len(call.ids) < call.count:
            call.ids.extend(islice(self._current, call.count - len(call.ids)))
            if len(call.ids) < call.count and not self._advance():
                return False
        if self._buffered() <= self._low_mark:
            self._replenish()
        if call.count > 1:
            call.ids.sort()  # another order only after a change of the server
        call.settle()
        return True

    def _refuse(self, error: Optional[LeafError]) -> None:
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            call.settle(error or self._tools.late(f"IDs of {self._tag}", self._record.error))

    def _replenish(self) -> None:
        """Sends a request, unless one is under way or was just refused."""
        now = monotonic_ms()
        recent = self._refusal is not None and now < self._refused_until
        if self._loading or recent or self._tools.closed is not None:
            return
        options = self._tools.options.segment
        if self._record.loads < 2:
            self._size = options.min_size
        elif now - self._started_at < options.duration_ms:
            self._size = min(self._size * 2, options.max_size)
        elif now - self._started_at >= 2 * options.duration_ms:
            self._size = max(self._size // 2, options.min_size)
        self._tools.workers.submit(lambda: self._load(now))
        self._loading = True  # last: an exception of a signal handler may end this anywhere

    def _load(self, started_at: float) -> None:
        """One request, in a worker."""
        tools = self._tools
        with tools.lock:
            self._waiting = [call for call in self._waiting if not call.done]
            missing = sum(call.count - len(call.ids) for call in self._waiting) - self._buffered()
            size = min(MAX_RANGE, max(self._size, missing), self._most)
        try:
            try:
                ranges, strict = self._ask(size)
            except LeafError as error:
                if size == 1 or error.code != "LEAF_TAG_EXHAUSTED":
                    raise
                self._policy = Policy(self._tag)  # a server that refused so many may have fewer
                self._most = 1
                ranges, strict = self._ask(1)
            self._most = min(2 * self._most, MAX_RANGE)
        except LeafError as error:
            with tools.lock:
                self._failed(error, started_at)
            return
        with tools.lock:
            self._loading = False
            self._record.succeeded()
            self._refusal = None
            if tools.closed is not None:
                return
            if strict:
                # The IDs were requested for no call in particular: drop them.
                waiting, self._waiting = self._waiting, []
                self._on_strict(waiting, ranges[-1].stop - 1)
                return
            self._started_at = started_at
            self._low_mark = int(self._size * (1 - _PREFETCH_RATIO))
            self._queue.extend(ranges)
            while self._waiting and self._serve(self._waiting[0]):
                del self._waiting[0]
            if self._waiting:
                self._replenish()
            elif length_hint(self._current) == 0:
                self._advance()

    def _ask(self, count: int) -> Tuple[List[range], bool]:
        def read(body: object) -> Tuple[List[range], bool]:
            ranges, strict = read_ranges(body, self._tag, count)
            self._duplicates.add(ranges)
            return ranges, strict

        return self._tools.servers.get(self._policy, f"/api/segment/range/{self._tag}?size={count}", read)

    def _failed(self, error: LeafError, started_at: float) -> None:
        self._record.failed(error)
        # No retry for a tag that never had an ID while no call waits for one.
        wanted = self._waiting or self._record.loads > 0
        if error.retryable and wanted and self._tools.closed is None:
            delay = backoff_ms(self._record.failures_in_row, 25, 1000)
            self._tools.workers.submit(lambda: self._load(started_at), delay)
            return
        self._loading = False
        if not error.retryable:
            self._refusal, self._refused_until = error, monotonic_ms() + _RECENT_MS
        self._refuse(error)


class StrictBuffer:
    """A strict tag. One request is under way at a time, and its IDs go only to the calls that waited when it was sent."""

    def __init__(self, tag: str, tools: Tools, highest: int) -> None:
        self._tag = tag
        self._tools = tools
        self._highest = highest
        self._policy = Policy(tag)
        self._record = Record(f"tag {tag}")
        self._waiting: List[Call] = []
        self._batch: List[Call] = []
        self._sending = False
        #: Until ``_exhausted_until``, the refusal of each batch of ``_too_many`` IDs or more: the tag has fewer left.
        self._exhausted: Optional[LeafError] = None
        self._exhausted_until = 0.0
        self._too_many = 0

    @property
    def is_idle(self) -> bool:
        return False  # the highest ID seen is kept

    def try_one(self) -> Optional[int]:
        return None

    def begin(self, call: Call) -> None:
        self._waiting.append(call)
        self._send(0)

    def withdraw(self, call: Call) -> None:
        if call in self._waiting:
            self._waiting.remove(call)
        call.settle(self._tools.late(f"IDs of {self._tag}", self._record.error))

    def close(self, error: LeafError) -> None:
        for call in self._batch + self._waiting:
            call.settle(error)
        self._waiting = []

    def snapshot(self) -> Dict[str, object]:
        own = {"tag": self._tag, "strict": True, "buffered": 0, "size": sum(call.count for call in self._batch)}
        return {**own, "loading": self._sending, **self._record.view()}

    def _send(self, delay_ms: float) -> None:
        if not self._sending and self._waiting and self._tools.closed is None:
            self._tools.workers.submit(self._load, delay_ms)
            self._sending = True  # last, as _loading of RangeBuffer

    def _load(self) -> None:
        """One request, in a worker."""
        tools = self._tools
        with tools.lock:
            self._batch = self._next_batch()
            count = sum(call.count for call in self._batch)
            known = self._exhausted if self._is_exhausted and count >= self._too_many else None
        error: Optional[LeafError] = None
        ids = range(0)
        if count > 0 and known is None:
            try:
                path = f"/api/segment/range/{self._tag}?size={count}"
                ids = tools.servers.get(self._policy, path, lambda body: self._read(body, count))
            except LeafError as refusal:
                error = refusal
        with tools.lock:
            self._sending = False
            batch, self._batch = self._batch, []
            if known is not None:
                self._refuse(batch, known)
                self._send(0)
                return
            if error is not None:
                self._send(self._failed(batch, error))
                return
            if batch:
                self._record.succeeded()
            at = 0
            for call in batch:
                if not call.done:
                    call.ids.extend(ids[at : at + call.count])
                    call.settle()
                at += call.count
            self._send(0)

    def _next_batch(self) -> List[Call]:
        size = taken = 0
        self._waiting = [call for call in self._waiting if not call.done]
        for call in self._waiting:
            if taken and (self._waiting[0].alone or call.alone or size + call.count > MAX_RANGE):
                break
            size += call.count
            taken += 1
        batch, self._waiting = self._waiting[:taken], self._waiting[taken:]
        return batch

    def _read(self, body: object, count: int) -> range:
        ranges, _ = read_ranges(body, self._tag, count)
        if len(ranges) != 1:
            raise wrong("a strict tag has one range in an answer")
        if ranges[0].start <= self._highest:
            raise wrong(
                f'it has {ranges[0].start} of the strict tag "{self._tag}" after {self._highest}: a proxy caches '
                "responses, or the servers do not share one database"
            )
        self._highest = ranges[0].stop - 1
        return ranges[0]

    def _failed(self, batch: List[Call], error: LeafError) -> float:
        """Returns how long the next request waits, in milliseconds."""
        self._record.failed(error)
        if error.retryable:
            self._waiting = batch + self._waiting
            return backoff_ms(self._record.failures_in_row, 25, 1000)
        if error.code == "LEAF_TAG_EXHAUSTED":
            self._policy = Policy(self._tag)  # a server that refused so many may have fewer
            size = sum(call.count for call in batch)
            self._too_many = min(self._too_many, size) if self._is_exhausted else size
            self._exhausted, self._exhausted_until = error, monotonic_ms() + _RECENT_MS
        self._refuse(batch, error)
        return 0

    @property
    def _is_exhausted(self) -> bool:
        return self._exhausted is not None and monotonic_ms() < self._exhausted_until

    def _refuse(self, batch: List[Call], error: LeafError) -> None:
        # A call that wants more than the tag has left must not fail the others: each then has a request of its own.
        if error.code == "LEAF_TAG_EXHAUSTED" and len(batch) > 1:
            for call in batch:
                call.alone = True
            self._waiting = batch + self._waiting
            return
        for call in batch:
            call.settle(error)

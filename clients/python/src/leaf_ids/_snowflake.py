"""Issues snowflake IDs within a worker window."""

from __future__ import annotations

import random
import sys
import threading
import time
from typing import Callable, List, MutableSequence, NamedTuple, Optional, Tuple, TypeVar, Union

from ._errors import LeafError, forked_error, reentrant_error
from ._layout import BitLayout

T = TypeVar("T")

_NS = 1_000_000
_MAX_BACKWARDS_MS = 5
#: Under load, the generator first uses the milliseconds that it missed while the process was busy, up to this many.
_CATCH_UP_MS = 8
#: A millisecond starts at a random sequence number below this, unless the one before was used up.
_START_BELOW = 1024
_PAUSE_S = 0.0001
_MAX_BLOCK_S = 0.00105

#: Why no ID can be issued now.
NO_TERM, BEHIND, EXHAUSTED, ABSORBING, EPOCH, FLOOR, CEILING = (
    "no term",
    "behind",
    "exhausted",
    "absorbing",
    "epoch",
    "floor",
    "ceiling",
)


class Term(NamedTuple):
    """A period in which one worker ID is held: all timestamps are above ``floor``, Unix milliseconds."""

    worker_id: int
    floor: int
    layout: BitLayout


class Generator:
    """Issues each timestamp, worker ID and sequence number at most once, in ascending order.

    ``lock`` guards all fields and the whole issue of an ID, so once a holder of the lock has replaced ``term`` and
    called ``disarm``, no ID of the earlier term is issued. ``issue`` reads the wall clock once: an ID is issued if that
    time is in the millisecond for which the rest of the sequence was checked against the newest window.
    """

    def __init__(
        self,
        wall_ns: Callable[[], int],
        alive: MutableSequence[int],
        refusal: LeafError,
        renew: Callable[[], None],
    ) -> None:
        """``alive[0]`` is 0 in a child that still has the state of its parent. ``renew`` needs the lock."""
        # Reentrant, so that a signal handler or a finalizer is refused instead of blocked. It cannot interrupt ``issue``
        # after the read of the clock: CPython 3.10 and later run them only after calls and at backward jumps.
        # ``_busy`` guards the rest.
        reentrant = sys.implementation.name == "cpython" and sys.version_info >= (3, 10)
        lock = self.lock = threading.RLock() if reentrant else threading.Lock()
        self._busy = False
        self.term: Optional[Term] = None
        self.ceiling = self.renew_after = -1
        #: The error of all calls while there is no term.
        self.refusal = refusal
        #: Unix milliseconds of the newest ID, -1 before the first.
        self.timestamp = -1
        self._wall_ns = wall_ns
        self._renew = renew
        self._of: Optional[Term] = None
        self._saturated = False
        start = stop = following = 0
        last = -1

        def issue() -> int:
            nonlocal following
            if not alive[0]:
                raise forked_error()
            with lock:
                now = wall_ns()
                if start <= now < stop and following <= last:
                    id = following
                    following = id + 1
                    return id
                return self._alone(self._issue_slowly, now // _NS)

        def arm(first_ns: int, end_ns: int) -> None:
            nonlocal start, stop
            start, stop = first_ns, end_ns

        def fill(first: int, end: int) -> None:
            nonlocal following, last
            following, last = first, end

        def left() -> int:
            return last - following + 1

        def skip(count: int) -> range:
            nonlocal following
            following += count
            return range(following - count, following)

        #: The next ID. Waits for at most about a millisecond; raises LeafError.
        self.issue = issue
        self._arm, self._fill, self._left, self._skip = arm, fill, left, skip

    def disarm(self) -> None:
        """Has the next ID checked against the fields of this object. Call with the lock held."""
        self._arm(0, 0)

    def take(self, count: int) -> Tuple[List[int], str, Optional[LeafError]]:
        """As many of ``count`` IDs as there are now, and why there are no more. With 0: whether one could be issued."""
        with self.lock:
            return self._alone(self._take, count)

    def _alone(self, act: Callable[[int], T], value: int) -> T:
        if self._busy:
            raise reentrant_error()
        self._busy = True
        try:
            self.disarm()
            return act(value)
        finally:
            self._busy = False

    def _take(self, count: int) -> Tuple[List[int], str, Optional[LeafError]]:
        ids: List[int] = []
        now = self._wall_ns() // _NS
        if count == 0:
            decision = self._decide(now)
            if isinstance(decision, str) and decision not in (EXHAUSTED, ABSORBING):
                return ids, decision, self._refused(decision, now)
        while len(ids) < count:
            hold = self._claim(now)
            if hold:
                return ids, hold, self._refused(hold, now)
            ids.extend(self._skip(min(count - len(ids), self._left())))
            now = self._wall_ns() // _NS
        return ids, "", None

    def _issue_slowly(self, now: int) -> int:
        hold = self._claim(now)
        until = time.monotonic() + _MAX_BLOCK_S
        while hold == EXHAUSTED and time.monotonic() < until:
            time.sleep(_PAUSE_S)
            now = self._wall_ns() // _NS
            hold = self._claim(now)
        if hold:
            raise self._refused(hold, now)
        id = self._skip(1)[0]
        self._arm(now * _NS, (now + 1) * _NS)  # last: before, ``issue`` has to come here
        return id

    def _claim(self, now: int) -> str:
        """Makes sure that an ID is left for the time ``now``; otherwise returns the reason."""
        if self.term is not None and now > self.renew_after:
            self._renew()
        decision = self._decide(now)
        if isinstance(decision, str):
            return decision
        if decision != self.timestamp or self.term is not self._of:
            self._open(decision)
        return ""

    def _decide(self, now: int) -> Union[int, str]:
        """The timestamp of the next ID, or why there is none."""
        term = self.term
        if term is None:
            return NO_TERM
        offset = self.timestamp - now
        if offset > _MAX_BACKWARDS_MS:
            return BEHIND
        if term is not self._of:
            return self._admitted(now, term)
        spare = self._left() > 0
        if offset >= 0:
            if spare:
                return self._admitted(self.timestamp, term)
            return EXHAUSTED if offset == 0 else ABSORBING
        near = -offset <= _CATCH_UP_MS
        if spare and near and self._saturated:
            return self._admitted(self.timestamp, term)
        return self._admitted(self.timestamp + 1 if near and not spare else now, term)

    def _admitted(self, timestamp: int, term: Term) -> Union[int, str]:
        if not term.layout.epoch <= timestamp <= term.layout.max_timestamp:
            return EPOCH
        if timestamp <= term.floor:
            return FLOOR
        return CEILING if timestamp > self.ceiling else timestamp

    def _open(self, timestamp: int) -> None:
        term = self.term
        assert term is not None
        self._saturated = self._of is not None and self._left() == 0 and timestamp == self.timestamp + 1
        most = term.layout.max_sequence
        first = 0 if self._saturated else random.randrange(min(_START_BELOW, most + 1))
        base = term.layout.compose(timestamp, term.worker_id, 0)
        # An exception of a signal handler may end this anywhere: without IDs of the earlier timestamp or term.
        self._fill(0, -1)
        self.timestamp, self._of = timestamp, term
        self._fill(base + first, base + most)

    def _refused(self, hold: str, now: int) -> LeafError:
        term = self.term
        if term is None:
            return self.refusal.fresh()
        worker = f"worker {term.worker_id}"
        if hold == EXHAUSTED:
            message = f"All IDs of this millisecond of {worker} are used. Retry, or spread the load over more processes."
            return LeafError("LEAF_OVERLOADED", message, retry_after_ms=1)
        if hold == FLOOR:
            message = f"The window of {worker} begins in {term.floor - now + 1} ms by the clock of this host."
            return LeafError("LEAF_NOT_READY", message, retry_after_ms=term.floor - now + 1)
        if hold == CEILING:
            message = f"The window of {worker} ended at {self.ceiling} (Unix ms), and no server has extended it."
            return LeafError("LEAF_LEASE_EXPIRED", message, retry_after_ms=1000)
        if hold == EPOCH:
            message = f"The clock reads {now} (Unix ms), outside the layout {term.layout}. Correct the clock."
            return LeafError("LEAF_EPOCH_EXHAUSTED", message)
        behind = self.timestamp - now
        message = f"The clock is {behind} ms behind the newest ID of {worker}. Check the time service of this host."
        return LeafError("LEAF_CLOCK_BACKWARDS", message, retry_after_ms=max(1, behind))

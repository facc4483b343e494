"""The core of both clients: everything but the way a call waits."""

from __future__ import annotations

import mmap
import os
import sys
import sysconfig
import weakref
from collections import OrderedDict
from datetime import date, datetime, timezone
from typing import Callable, Dict, List, MutableSequence, NamedTuple, Optional, Tuple, Union

from ._answers import read_period
from ._calls import Call, Steps, settled
from ._errors import LeafError, closed_error, forked_error, reentrant_error
from ._layout import BitLayout, SnowflakeParts
from ._options import Options, check_count, check_tag
from ._segments import Duplicates, RangeBuffer, StrictBuffer, Tools
from ._servers import Policy, Servers, monotonic_ms
from ._window import KeptWindow
from ._workers import Workers

_MAX_TAGS = 10_000
_MADV_WIPEONFORK = 18


class PeriodNumber(NamedTuple):
    """A number that is unique within its period."""

    period: str
    number: int


class Core:
    """The state of one client in one process. A forked child starts it afresh: see ``restart``."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.closed = False
        #: ``alive[0]`` is 0 in a forked child that has not started afresh: one that no hook of Python noticed.
        self.alive = _wiped_on_fork()
        #: The hot path: see ``Tools.table``. It is the same object for the life of the client.
        self.table: Dict[str, Callable[[], int]] = {}
        self._start()
        if hasattr(os, "register_at_fork"):
            core = weakref.ref(self)
            os.register_at_fork(after_in_child=lambda: _restart(core()))

    def restart(self) -> None:
        """In a forked child: drops the IDs, the worker ID and the connections, which belong to the parent, and the locks,
        which threads of the parent may hold."""
        self.alive[0] = 0
        self.table.clear()
        for server in self._servers.all:
            server.connections.abandon()
        self._start()
        self.alive[0] = 1

    def take(self, tag: str, count: int) -> Steps[List[int]]:
        check_tag(tag)
        check_count(count)
        tools = self._entered()
        call = Call(count)

        def withdraw(call: Call) -> None:
            with tools.lock:
                if not call.done:
                    self._buffers[tag].withdraw(call)

        try:
            with tools.lock:
                tools.enter(call)
                self._buffer(tag).begin(call)
            return (yield from settled(call, self.options.timeout_ms, withdraw)).ids
        finally:
            call.done = True
            tools.calls.discard(call)

    def try_next(self, tag: str) -> Optional[int]:
        tools = self._entered()
        with tools.lock:
            buffer = self._buffers.get(tag)
            return None if buffer is None else buffer.try_one()

    def next_in_period(self, tag: str, at: Union[date, datetime, None]) -> Steps[PeriodNumber]:
        check_tag(tag)
        query = "" if at is None else "&at=" + _text_of(at).replace("+", "%2B")
        tools = self._entered()
        call = Call(1)
        with tools.lock:
            policy, duplicates = self._period(tag)

        def read(body: object) -> PeriodNumber:
            period, ranges = read_period(body, tag, 1)
            with tools.lock:
                duplicates.add(ranges, period)
            return PeriodNumber(period, ranges[0][0])

        def request() -> None:
            error = None
            if call.done:
                return  # it would take a number for nobody
            try:
                call.period, number = self._servers.get(policy, f"/api/segment/period/{tag}?size=1{query}", read)
                call.ids = [number]
            except LeafError as refusal:
                error = refusal
            with tools.lock:
                call.settle(error)

        def withdraw(call: Call) -> None:
            with tools.lock:
                call.settle(tools.late(f"numbers of {tag}", None))

        try:
            with tools.lock:
                tools.enter(call)
            tools.workers.submit(request)
            yield from settled(call, self.options.timeout_ms, withdraw)
        finally:
            call.done = True
            tools.calls.discard(call)
        return PeriodNumber(call.period, call.ids[0])

    def refused(self) -> None:
        """``issue`` has failed: starts to acquire a worker ID if there is none."""
        if self.alive[0] and self.window.generator.term is None:
            self.window.open()

    def snowflakes(self, count: int) -> Steps[List[int]]:
        if count:
            check_count(count)
        tools = self._entered()
        call = Call(count)
        try:
            with tools.lock:
                tools.enter(call)
            return (yield from self.window.snowflakes(count))
        finally:
            call.done = True
            tools.calls.discard(call)

    def decode(self, id: int) -> SnowflakeParts:
        return (self.window.layout or BitLayout()).decode(id)

    def snapshot(self) -> Dict[str, object]:
        tools = self._entered()
        with tools.lock:
            tags = [buffer.snapshot() for buffer in self._buffers.values()]
        servers, window = self._servers.snapshot(), self.window.snapshot()
        return {"servers": servers, "tags": tags, "window": window, "waiting": len(tools.calls)}

    def close(self) -> Steps[None]:
        tools, timeout_ms = self._tools, self.options.timeout_ms
        if not self.alive[0]:
            return
        with tools.lock:
            first = not self.closed
            self.closed = True
            if first:
                tools.closed = closed_error()
                for buffer in self._buffers.values():
                    buffer.close(tools.closed)
        if first:
            self.window.close(closed_error(), monotonic_ms() + timeout_ms)
        try:
            yield from settled(self.window.released, timeout_ms, lambda call: None)
        finally:
            self._servers.close()
            tools.workers.close()
        end = monotonic_ms() + self.options.request_timeout_ms
        while not tools.workers.are_ended and monotonic_ms() < end:
            yield None, 0.002

    def _start(self) -> None:
        workers = Workers(self.options.max_requests)
        self._servers = Servers(self.options)
        self._tools = Tools(self.options, workers, self._servers, self.table)
        self._tools.locked_iterators = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
        self._buffers: Dict[str, Union[RangeBuffer, StrictBuffer]] = {}
        self._periods: OrderedDict[str, Tuple[Policy, Duplicates]] = OrderedDict()
        self.window = KeptWindow(self._tools, self.alive)
        #: The next snowflake ID.
        self.issue = self.window.generator.issue
        if self.closed:
            self._tools.closed = closed_error()
            self.window.close(closed_error(), 0)

    def _entered(self) -> Tools:
        if not self.alive[0]:
            raise forked_error()
        if self._tools.lock._is_owned():  # type: ignore[attr-defined]
            raise reentrant_error()
        return self._tools

    def _buffer(self, tag: str) -> Union[RangeBuffer, StrictBuffer]:
        buffer = self._buffers.get(tag)
        if buffer is None:
            if len(self._buffers) >= _MAX_TAGS:
                for name in [name for name, idle in self._buffers.items() if idle.is_idle]:
                    del self._buffers[name]
                    self.table.pop(name, None)
            buffer = RangeBuffer(tag, self._tools, lambda calls, highest: self._strict(tag, calls, highest))
            self._buffers[tag] = buffer
        return buffer

    def _strict(self, tag: str, calls: List[Call], highest: int) -> None:
        """The tag is strict: passes the waiting calls on."""
        buffer = self._buffers[tag] = StrictBuffer(tag, self._tools, highest)
        self.table.pop(tag, None)
        for call in calls:
            buffer.begin(call)

    def _period(self, tag: str) -> Tuple[Policy, Duplicates]:
        entry = self._periods.pop(tag, None) or (Policy(tag), Duplicates(tag))
        self._periods[tag] = entry
        if len(self._periods) > _MAX_TAGS:
            self._periods.popitem(last=False)
        return entry


def _restart(core: Optional[Core]) -> None:
    if core is not None:
        core.restart()


def _wiped_on_fork() -> MutableSequence[int]:
    """A byte that is 1. On Linux, the kernel makes it 0 in every child, also in one that no hook of Python notices."""
    if sys.platform == "linux":
        try:
            page = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            page.madvise(_MADV_WIPEONFORK)
            page[0] = 1
            return page  # type: ignore[return-value]
        except (OSError, ValueError):
            pass
    return bytearray(b"\x01")


def _text_of(at: Union[date, datetime]) -> str:
    """RFC 3339. A date without a time means noon UTC, which is on that date from UTC-12 to UTC+11."""
    if isinstance(at, datetime):
        if at.tzinfo is None:
            raise LeafError("LEAF_PERIOD_INVALID", "The time has no time zone. Pass an aware datetime, or a date.")
        return at.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return f"{at.isoformat()}T12:00:00Z"

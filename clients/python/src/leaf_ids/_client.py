"""The clients for threads and for asyncio."""

from __future__ import annotations

import ssl
import time
from datetime import date, datetime
from types import TracebackType
from typing import Callable, Dict, List, Optional, Sequence, Type, Union

from ._calls import run, run_async
from ._core import Core, PeriodNumber
from ._errors import LeafError
from ._layout import BitLayout, SnowflakeParts
from ._options import EjectionOptions, Options, SegmentOptions, Server, Token, WindowOptions


class _Client:
    """What needs no waiting."""

    def __init__(
        self,
        servers: Sequence[Union[str, Server]],
        *,
        zone: Optional[str] = None,
        token: Optional[Token] = None,
        timeout_ms: int = 5000,
        request_timeout_ms: int = 1500,
        max_requests: int = 32,
        max_waiting: int = 10_000,
        segment: Optional[SegmentOptions] = None,
        ejection: Optional[EjectionOptions] = None,
        window: Optional[WindowOptions] = None,
        layout: Optional[BitLayout] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
        wall_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        """Sends no request and starts no thread. Times are in milliseconds; ``wall_ns`` is the wall clock in Unix
        nanoseconds, for tests. README.md has a table of the options.

        Raises LeafError ``LEAF_CONFIG_INVALID`` that lists all faults.
        """
        options = Options(
            servers=servers,
            zone=zone,
            token=token,
            timeout_ms=timeout_ms,
            request_timeout_ms=request_timeout_ms,
            max_requests=max_requests,
            max_waiting=max_waiting,
            segment=segment or SegmentOptions(),
            ejection=ejection or EjectionOptions(),
            window=window or WindowOptions(),
            layout=layout,
            ssl_context=ssl_context,
            wall_ns=wall_ns,
        )
        self._core = Core(options)
        self._table = self._core.table
        self._alive = self._core.alive

    def try_next(self, tag: str) -> Optional[int]:
        """The next ID of the tag if one is buffered, otherwise None. Never waits; always None for a strict tag."""
        if self._alive[0]:
            try:
                return self._table[tag]()
            except (KeyError, StopIteration):
                pass
        return self._core.try_next(tag)

    def snowflake(self) -> int:
        """The next snowflake ID. Sends no request; waits at most about a millisecond, if all IDs of one are used.

        Raises LeafError: ``LEAF_NOT_READY`` without a worker ID (one is then acquired in the background),
        ``LEAF_LEASE_EXPIRED`` after the end of the window, ``LEAF_CLOCK_BACKWARDS``, ``LEAF_OVERLOADED``,
        ``LEAF_EPOCH_EXHAUSTED``, ``LEAF_LAYOUT_MISMATCH``, or the refusal of the servers.
        """
        try:
            return self._core.issue()
        except LeafError:
            self._core.refused()
            raise

    def decode(self, id: int) -> SnowflakeParts:
        """The fields of a snowflake ID, by the layout of the servers, or of the options before a worker ID is held.

        Raises LeafError ``LEAF_ID_INVALID``.
        """
        return self._core.decode(id)

    def snapshot(self) -> Dict[str, object]:
        """The servers, the tags, the worker window and the number of waiting calls, as plain data."""
        return self._core.snapshot()


class LeafClient(_Client):
    """Unique IDs from Leaf servers, for threads. All methods may be called from any thread.

    ``close()`` gives the worker ID back and ends the threads; a ``with`` block does so at its end.
    """

    def next(self, tag: str) -> int:
        """The next ID of the tag; normally from memory. Waits up to ``timeout_ms`` if none is buffered.

        Raises LeafError: the refusal of the servers, ``LEAF_SERVERS_UNAVAILABLE``, ``LEAF_OVERLOADED``,
        ``LEAF_TAG_INVALID``, or ``LEAF_NOT_READY`` once the client is closed.
        """
        if self._alive[0]:
            try:
                return self._table[tag]()
            except (KeyError, StopIteration):
                pass
        return run(self._core.take(tag, 1))[0]

    def next_many(self, tag: str, count: int) -> List[int]:
        """The next 1 to 10,000 IDs of the tag, ascending. Raises LeafError as ``next``, and ``LEAF_SIZE_INVALID``."""
        return run(self._core.take(tag, count))

    def next_in_period(self, tag: str, at: Union[date, datetime, None] = None) -> PeriodNumber:
        """The next number of the period that contains ``at``: an aware datetime, a date, or now. One request per call.

        Raises LeafError as ``next``, and ``LEAF_PERIOD_INVALID``.
        """
        return run(self._core.next_in_period(tag, at))

    def snowflakes(self, count: int) -> List[int]:
        """The next 1 to 10,000 snowflake IDs, ascending. Waits up to ``timeout_ms`` for a worker ID. Raises LeafError."""
        return run(self._core.snowflakes(count))

    def ready(self) -> None:
        """Waits up to ``timeout_ms`` until ``snowflake()`` has an ID. Raises LeafError."""
        run(self._core.snowflakes(0))

    def close(self) -> None:
        """Ends all calls, gives the worker ID back, within ``timeout_ms``, and ends the threads. Idempotent."""
        run(self._core.close())

    def __enter__(self) -> LeafClient:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


class AsyncLeafClient(_Client):
    """As LeafClient, for asyncio: the methods that can wait are coroutines. One client serves any event loop."""

    async def next(self, tag: str) -> int:
        """As ``LeafClient.next``."""
        if self._alive[0]:
            try:
                return self._table[tag]()
            except (KeyError, StopIteration):
                pass
        return (await run_async(self._core.take(tag, 1)))[0]

    async def next_many(self, tag: str, count: int) -> List[int]:
        """As ``LeafClient.next_many``."""
        return await run_async(self._core.take(tag, count))

    async def next_in_period(self, tag: str, at: Union[date, datetime, None] = None) -> PeriodNumber:
        """As ``LeafClient.next_in_period``."""
        return await run_async(self._core.next_in_period(tag, at))

    async def snowflakes(self, count: int) -> List[int]:
        """As ``LeafClient.snowflakes``."""
        return await run_async(self._core.snowflakes(count))

    async def ready(self) -> None:
        """As ``LeafClient.ready``."""
        await run_async(self._core.snowflakes(0))

    async def close(self) -> None:
        """As ``LeafClient.close``."""
        await run_async(self._core.close())

    async def __aenter__(self) -> AsyncLeafClient:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()

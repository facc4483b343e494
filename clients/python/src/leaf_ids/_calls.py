"""Calls that wait, apart from how they wait: the same steps serve threads and asyncio."""

from __future__ import annotations

import asyncio
import time
from queue import Empty, SimpleQueue
from typing import Callable, Generator, List, Optional, Tuple, TypeVar

from ._errors import LeafError
from ._servers import monotonic_ms

T = TypeVar("T")


class Call:
    """One call that waits for ``count`` IDs, or for an event. Change it with the lock of its owner held, but for
    ``done``: a call that is given up sets it without the lock, because a finalizer may do so in any thread."""

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self.ids: List[int] = []
        self.period = ""
        self.error: Optional[LeafError] = None
        self.done = False
        #: Whether it has a request of its own: others of the same batch want more IDs than the tag has left.
        self.alone = False
        self._wakers: List[Callable[[], object]] = []

    def settle(self, error: Optional[LeafError] = None) -> None:
        if not self.done:
            self.error = error
            self.done = True
            wakers, self._wakers = self._wakers, []  # they refer to an event loop that may have been abandoned
            for wake in wakers:
                wake()

    def attach(self, wake: Callable[[], object]) -> None:
        """Calls ``wake`` once the call is done; ``wake`` may be called twice, and must not raise."""
        self._wakers.append(wake)
        if self.done:
            wake()


#: The steps of a call. It yields what it waits for, None for time alone, and the most seconds to wait.
Steps = Generator[Tuple[Optional[Call], float], None, T]


def settled(call: Call, timeout_ms: float, withdraw: Callable[[Call], object]) -> Steps[Call]:
    """Waits until ``call`` is done. ``withdraw`` settles a call that is not at its deadline."""
    deadline = monotonic_ms() + timeout_ms
    while not call.done:
        left = deadline - monotonic_ms()
        if left <= 0:
            withdraw(call)
            break
        yield call, left / 1000
    if call.error is not None:
        raise call.error.fresh()
    return call


def run(steps: Steps[T]) -> T:
    """Waits in this thread."""
    try:
        while True:
            call, seconds = next(steps)
            if call is None:
                time.sleep(seconds)
            else:
                # Not an Event: an exception of a signal handler in its wait can leave its lock locked.
                waker: SimpleQueue[None] = SimpleQueue()
                call.attach(lambda waker=waker: waker.put(None))  # type: ignore[misc]
                try:
                    waker.get(timeout=seconds)
                except Empty:
                    pass
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        steps.close()


async def run_async(steps: Steps[T]) -> T:
    """Waits in the running event loop."""
    loop = asyncio.get_running_loop()
    try:
        while True:
            call, seconds = next(steps)
            future: asyncio.Future[None] = loop.create_future()

            def wake(future: asyncio.Future[None] = future) -> None:
                if not future.done():
                    future.set_result(None)

            def wake_from_thread(wake: Callable[[], None] = wake) -> None:
                try:
                    loop.call_soon_threadsafe(wake)
                except RuntimeError:
                    pass  # the loop is closed, so nobody waits in it

            alarm = loop.call_later(seconds, wake)
            try:
                if call is not None:
                    call.attach(wake_from_thread)
                await future
            finally:
                alarm.cancel()
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        steps.close()

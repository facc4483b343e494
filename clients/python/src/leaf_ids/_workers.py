"""Threads for the requests."""

from __future__ import annotations

import heapq
import logging
import threading
import time
import traceback
from collections import deque
from typing import Callable, Deque, List, Tuple

from ._errors import LeafError

Job = Callable[[], None]
_log = logging.getLogger("leaf_ids")
_messages: Deque[Tuple[object, ...]] = deque()


def log_later(level: int, text: str, *values: object) -> None:
    """Logs after the current job, when it holds no lock: a log handler may take long, or take an ID."""
    _messages.append((level, text, *values))


def _log_now() -> None:
    while _messages:
        try:
            _log.log(*_messages.popleft())  # type: ignore[arg-type]
        except Exception:
            pass  # another thread took the last one, or a filter of the application failed


class Workers:
    """Runs jobs in daemon threads, each at its time. Threads are started when needed, at most ``most``."""

    def __init__(self, most: int) -> None:
        self._most = most
        # ``with self._lock``, not the condition: an exception of a signal handler could leave that locked. Reentrant,
        # because a signal handler or a finalizer may submit a job.
        self._lock = threading.RLock()
        self._condition = threading.Condition(self._lock)
        self._jobs: List[Tuple[float, int, Job]] = []
        self._submitted = 0
        self._idle = 0
        self._threads: List[threading.Thread] = []
        self._closed = False

    def submit(self, job: Job, delay_ms: float = 0) -> None:
        """Raises LeafError ``LEAF_OVERLOADED`` if no thread can be started."""
        with self._lock:
            if not self._closed:
                self._submitted += 1
                heapq.heappush(self._jobs, (time.monotonic() + delay_ms / 1000, self._submitted, job))
                self._attend()

    def close(self) -> None:
        """Drops the jobs that have not begun, and ends the threads."""
        with self._lock:
            self._closed = True
            self._jobs.clear()
            self._condition.notify_all()

    @property
    def are_ended(self) -> bool:
        current = threading.current_thread()
        return not any(thread.is_alive() for thread in self._threads if thread is not current)

    def _attend(self) -> None:
        """Has a thread look at the jobs. Call with the lock held."""
        if self._idle > 0:
            self._condition.notify()
        elif len(self._threads) < self._most:
            thread = threading.Thread(target=self._run, name="leaf-ids", daemon=True)
            try:
                thread.start()  # it waits for the lock
            except RuntimeError as error:
                if self._threads:
                    return  # one of them gets to the job
                self._jobs.clear()
                message = "This process cannot start a thread for the requests of the Leaf client."
                raise LeafError("LEAF_OVERLOADED", message, retry_after_ms=1000) from error
            self._threads.append(thread)
            self._idle += 1

    def _run(self) -> None:
        with self._lock:
            while not self._closed:
                wait = self._jobs[0][0] - time.monotonic() if self._jobs else None
                if wait is None or wait > 0:
                    self._condition.wait(wait)
                    continue
                job = heapq.heappop(self._jobs)[2]
                self._idle -= 1
                if self._jobs:
                    self._attend()
                self._lock.release()
                try:
                    job()
                except BaseException:
                    log_later(logging.ERROR, "a job of the Leaf client failed:\n%s", traceback.format_exc())
                finally:
                    del job
                    _log_now()
                    self._lock.acquire()
                    self._idle += 1

"""Signal handlers, finalizers, log handlers and a lack of threads: no deadlock, and no ID twice."""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import logging
import os
import random
import signal
import socket
import sys
import threading
import time
import unittest
from typing import Any, Callable, List, Set, Tuple
from unittest import mock
from urllib.parse import urlsplit

from leaf_ids import AsyncLeafClient, LeafClient, LeafError, SegmentOptions
from leaf_ids._http import Connections

from .fake_server import Clock, FakeServer, Reply, problem
from .test_fork import code_of, in_child
from .test_segments import FAST, client_of

REENTRANT = sys.implementation.name == "cpython" and sys.version_info >= (3, 10)


def within(seconds: float, action: Callable[[], Any]) -> Any:
    """The result of ``action``, which is run in a thread, because it may never end."""
    results: List[Any] = []
    thread = threading.Thread(target=lambda: results.append(action()), daemon=True)
    thread.start()
    thread.join(seconds)
    if not results:
        raise AssertionError("a deadlock, or an exception")
    return results[0]


class Interruptions(unittest.TestCase):
    def test_a_log_handler_may_take_ids(self) -> None:
        with FakeServer() as server:
            client = client_of(server)
            codes: List[str] = []

            class Handler(logging.Handler):
                def emit(self, record: logging.LogRecord) -> None:
                    codes.append(code_of(client.snowflake) + code_of(lambda: client.next("log")))

            logger, handler = logging.getLogger("leaf_ids"), Handler()
            level = logger.level
            logger.addHandler(handler)
            logger.setLevel(logging.INFO)
            logger.propagate = False
            try:
                server.script = lambda request, n: problem(503, "LEAF_OVERLOADED") if n < 3 else None
                within(5, client.ready)
                server.script = lambda request, n: problem(404, "LEAF_TAG_NOT_FOUND") if "bad" in request.path else None
                self.assertEqual("LEAF_TAG_NOT_FOUND", within(5, lambda: code_of(lambda: client.next("bad"))))
                within(5, client.close)
            finally:
                logger.removeHandler(handler)
                logger.setLevel(level)
                logger.propagate = True
            self.assertGreaterEqual(len(codes), 2)

    def test_a_thread_that_cannot_be_started(self) -> None:
        start = threading.Thread.start
        left = [2]

        def failing(thread: threading.Thread) -> None:
            if thread.name == "leaf-ids" and left[0] > 0:
                left[0] -= 1
                raise RuntimeError("can't start new thread")
            start(thread)

        with FakeServer() as server, client_of(server) as client, mock.patch("threading.Thread.start", failing):
            self.assertEqual("LEAF_OVERLOADED", code_of(lambda: client.next("order")))
            self.assertEqual("LEAF_OVERLOADED", code_of(client.ready))
            self.assertEqual(0, client.snapshot()["waiting"])
            self.assertEqual(1, client.next("order"))
            client.ready()

    def test_an_abandoned_call_is_collected_by_a_thread_that_holds_the_lock(self) -> None:
        with FakeServer(lambda request, n: Reply(lost=True)) as server:
            client = AsyncLeafClient([server.url], ejection=FAST)

            async def abandon() -> None:
                asyncio.ensure_future(client.next("order"))
                await asyncio.sleep(0.1)

            loop = asyncio.new_event_loop()
            loop.set_exception_handler(lambda *_: None)
            loop.run_until_complete(abandon())
            loop.close()
            del loop
            server.script = lambda request, n: None
            tools = client._core._tools
            while client._core._buffers["order"]._waiting:
                time.sleep(0.01)

            def collect() -> int:
                with tools.lock:
                    return gc.collect()

            within(5, collect)
            self.assertEqual(0, client.snapshot()["waiting"])
            asyncio.run(client.close())

    @unittest.skipUnless(hasattr(signal, "setitimer"), "no timers")
    def test_exceptions_of_signal_handlers(self) -> None:
        class Stop(Exception):
            pass

        armed: List[bool] = []

        def handler(*_: object) -> None:
            if armed:
                raise Stop

        def child() -> Tuple[int, List[Tuple[str, int]]]:
            faulthandler.dump_traceback_later(20, exit=True)
            signal.signal(signal.SIGALRM, handler)
            sys.stderr = open(os.devnull, "w")  # threads whose start was interrupted report it
            segment = SegmentOptions(min_size=1, max_size=1, duration_ms=1)
            client = client_of(server, segment=segment)
            ids: List[Tuple[str, int]] = []
            end = time.monotonic() + 3
            n = 0
            while time.monotonic() < end:
                n += 1
                tag = f"t{n % 50}"
                try:
                    signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 0.0008))
                    armed.append(True)
                    id = client.next(tag)
                    armed.clear()
                    ids.append((tag, id))
                except Stop:
                    armed.clear()
            signal.setitimer(signal.ITIMER_REAL, 0)
            ids += [(f"t{n}", client.next(f"t{n}")) for n in range(50)]
            return client.snapshot()["waiting"], ids  # type: ignore[return-value]

        with FakeServer() as server:
            waiting, ids = in_child(os.fork, child)
        self.assertEqual(len(ids), len(set(ids)))
        if sys.version_info >= (3, 10):  # earlier versions can skip the end of a ``with`` block
            self.assertEqual(0, waiting)

    def test_an_exception_while_a_millisecond_is_opened(self) -> None:
        with FakeServer() as server:
            clock = Clock()
            server.now_ms = lambda: clock.ms
            with client_of(server, wall_ns=clock) as client:
                client.ready()
                before = client.decode(client.snowflake())
                generator = client._core.window.generator
                assert generator.term is not None
                # As the first ID after another worker ID was acquired.
                generator.term = generator.term._replace(worker_id=before.worker_id + 1)
                generator.disarm()
                clock.step(2)
                fill = generator._fill

                def interrupted(first: int, end: int) -> None:
                    if end >= 0:
                        generator._fill = fill
                        raise KeyboardInterrupt
                    fill(first, end)

                generator._fill = interrupted
                with self.assertRaises(KeyboardInterrupt):
                    client.snowflake()
                self.assertEqual("LEAF_OVERLOADED", code_of(client.snowflake))  # none of the earlier worker
                clock.step(1)
                next = client.decode(client.snowflake())
                self.assertEqual((clock.ms, before.worker_id + 1), (next.timestamp, next.worker_id))

    @unittest.skipUnless(REENTRANT, "signal handlers may interrupt any instruction")
    def test_a_call_inside_of_another_one_of_the_same_thread(self) -> None:
        with FakeServer() as server:
            clock = Clock()
            server.now_ms = lambda: clock.ms
            with client_of(server, wall_ns=clock) as client:
                client.ready()
                inner: List[Any] = []
                seen: Set[int] = set()

                def interrupt(_: int) -> None:
                    clock.after = lambda reads: None
                    try:
                        inner.append(client.snowflake())
                    except LeafError as error:
                        inner.append(error.code)

                def take() -> bool:
                    for n in range(50):
                        clock.step(n % 3)
                        clock.after = interrupt
                        seen.add(client.snowflake())
                    clock.after = interrupt
                    seen.update(client.snowflakes(10))
                    return True

                within(5, take)
                self.assertEqual("LEAF_OVERLOADED", inner.pop())
                self.assertEqual(110, len(seen.union(inner)))

                def locked() -> List[str]:
                    with client._core._tools.lock:
                        return [code_of(lambda: client.next("order")), code_of(client.ready), code_of(client.snapshot)]

                self.assertEqual(["LEAF_OVERLOADED"] * 3, within(5, locked))
                self.assertEqual(1, client.next("order"))

    def test_a_host_with_several_addresses_that_do_not_answer(self) -> None:
        addresses = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)) for port in (1, 2, 3)]

        def connect(sock: socket.socket, _: object) -> None:
            time.sleep(sock.gettimeout() or 0)
            raise TimeoutError

        connections = Connections(urlsplit("http://leaf"), None)
        started = time.monotonic()
        with mock.patch("socket.getaddrinfo", lambda *_, **__: addresses):
            with mock.patch.object(socket.socket, "connect", connect), self.assertRaises(OSError):
                connections.request("GET", "/", {}, b"", started + 1)
        self.assertLess(time.monotonic() - started, 2)

    def test_a_token_function_that_exits(self) -> None:
        with FakeServer() as server, client_of(server, token=lambda: sys.exit(1)) as client:
            self.assertEqual("LEAF_UNAUTHORIZED", code_of(lambda: client.next("order")))

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_a_child_whose_hook_fails_has_no_ids(self) -> None:
        with mock.patch("leaf_ids._core._wiped_on_fork", lambda: bytearray(b"\x01")):
            with FakeServer() as server, LeafClient([server.url]) as client:
                client.next("order")
                hook = sys.unraisablehook
                sys.unraisablehook = lambda _: None
                try:
                    with mock.patch.object(Connections, "abandon", side_effect=OSError):
                        code = in_child(os.fork, lambda: code_of(lambda: client.next("order")))
                finally:
                    sys.unraisablehook = hook
                self.assertEqual("LEAF_NOT_READY", code)


if __name__ == "__main__":
    unittest.main()

from __future__ import annotations

import asyncio
import threading
import unittest
from typing import Any

from leaf_ids import AsyncLeafClient, EjectionOptions, LeafError

from .fake_server import FakeServer, Reply, Request


class Async(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.server = FakeServer()
        self.addCleanup(self.server.__exit__)

    def client(self, **options: Any) -> AsyncLeafClient:
        ejection = EjectionOptions(failures=1000, first_ms=1, max_ms=1)
        return AsyncLeafClient([self.server.url], **{"ejection": ejection, "timeout_ms": 3000, **options})

    async def test_all_methods(self) -> None:
        self.server.strict = ["ledger"]
        async with self.client() as ids:
            self.assertEqual(1, await ids.next("order"))
            self.assertEqual([2, 3], await ids.next_many("order", 2))
            self.assertEqual(4, ids.try_next("order"))
            self.assertEqual(101, await ids.next("ledger"))
            self.assertEqual(("2026-11", 1), await ids.next_in_period("invoice"))
            await ids.ready()
            self.assertLess(ids.snowflake(), (await ids.snowflakes(9000))[0])
        self.assertEqual("DELETE", self.server.requests[-1].method)
        self.assertEqual([], [thread for thread in threading.enumerate() if thread.name == "leaf-ids"])

    async def test_waiting_calls_share_requests(self) -> None:
        async with self.client() as ids:
            taken = await asyncio.gather(*(ids.next("order") for _ in range(500)))
            self.assertEqual(set(range(1, 501)), set(taken))
            self.assertLess(len(self.server.requests), 8)

    async def test_the_loop_runs_on_while_a_call_waits(self) -> None:
        release = threading.Event()
        self.server.script = lambda request, n: Reply(lost=True, hold=release) if n == 1 else None
        async with self.client() as ids:
            call = asyncio.ensure_future(ids.next("order"))
            while not self.server.requests:
                await asyncio.sleep(0)
            self.assertFalse(call.done())
            release.set()
            self.assertEqual(1, await call)

    async def test_a_cancelled_call_takes_no_id(self) -> None:
        release = threading.Event()

        def script(request: Request, n: int) -> Any:
            reply = self.server.serve(request)
            reply.hold = release
            return reply

        self.server.script = script
        async with self.client() as ids:
            calls = [asyncio.ensure_future(ids.next("order")) for _ in range(2)]
            while not self.server.requests:
                await asyncio.sleep(0)
            calls[0].cancel()
            await asyncio.wait(calls[:1])
            release.set()
            self.assertEqual(1, await calls[1])
            self.assertEqual(0, ids.snapshot()["waiting"])

    async def test_a_call_ends_at_its_deadline(self) -> None:
        self.server.script = lambda request, n: Reply(lost=True)
        async with self.client(timeout_ms=200) as ids:
            for call in (ids.next("order"), ids.snowflakes(1), ids.ready(), ids.next_in_period("invoice")):
                with self.assertRaises(LeafError) as caught:
                    await call
                self.assertEqual("LEAF_SERVERS_UNAVAILABLE", caught.exception.code)

    async def test_close_ends_waiting_calls(self) -> None:
        self.server.script = lambda request, n: Reply(lost=True)
        ids = self.client()
        calls = [asyncio.ensure_future(call) for call in (ids.next("order"), ids.ready())]
        while len(self.server.requests) < 2:
            await asyncio.sleep(0)
        await ids.close()
        for call in calls:
            with self.assertRaises(LeafError) as caught:
                await call
            self.assertEqual("LEAF_NOT_READY", caught.exception.code)


if __name__ == "__main__":
    unittest.main()

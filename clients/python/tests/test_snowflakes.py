from __future__ import annotations

import json
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, List

from leaf_ids import BitLayout, LeafClient, LeafError, Server, WindowOptions

from .fake_server import LAYOUT, Clock, FakeServer, Reply, Request, problem


def client_of(server: FakeServer, clock: Clock, **options: Any) -> LeafClient:
    server.now_ms = lambda: clock.ms
    window = WindowOptions(window_ms=10_000, holder="test", token="secret")
    return LeafClient([server.url], wall_ns=clock, window=window, **{"timeout_ms": 3000, **options})


def methods(requests: List[Request]) -> List[str]:
    return [request.method for request in requests]


class Snowflakes(unittest.TestCase):
    def assert_refused(self, client: LeafClient, code: str) -> None:
        with self.assertRaises(LeafError) as caught:
            client.snowflake()
        self.assertEqual(code, caught.exception.code, caught.exception.message)

    def test_ids_have_the_time_of_the_one_read_of_the_clock(self) -> None:
        with FakeServer() as server:
            clock = Clock()
            with client_of(server, clock) as client:
                client.ready()
                for _ in range(3):
                    clock.step(10)
                    before, now = clock.reads, clock.ms
                    clock.after = lambda reads: clock.step(20_000)
                    self.assertEqual(now, client.decode(client.snowflake()).timestamp)
                    self.assertEqual(1, clock.reads - before)
                    clock.after = lambda reads: None
                    clock.step(-20_000)

    def test_a_clock_that_jumps_past_the_window_between_reads(self) -> None:
        with FakeServer() as server:
            clock = Clock()
            with client_of(server, clock) as client:
                client.ready()
                client.snowflake()
                until = clock.ms + server.window_ms
                clock.after = lambda reads: clock.step(server.window_ms + 1)
                ids = []
                with self.assertRaises(LeafError) as caught:
                    for _ in range(5000):
                        ids.append(client.snowflake())
                self.assertEqual("LEAF_LEASE_EXPIRED", caught.exception.code)
                self.assertLessEqual(client.decode(ids[-1]).timestamp, until)
                clock.after = lambda reads: None

    def test_refuses_outside_of_the_window(self) -> None:
        with FakeServer() as server:
            clock = Clock()
            server.window_ms = 10_000
            with client_of(server, clock) as client:
                self.assert_refused(client, "LEAF_NOT_READY")
                client.ready()
                start = clock.ms
                client.snowflake()
                clock.step(10_000)
                self.assertEqual(start + 10_000, client.decode(client.snowflake()).timestamp)
                server.script = lambda request, n: Reply(lost=True)
                clock.step(1)
                self.assert_refused(client, "LEAF_LEASE_EXPIRED")

    def test_a_window_that_begins_later(self) -> None:
        clock = Clock(runs=True)
        server = FakeServer()
        server.script = lambda request, n: (
            server.serve_window(request, **{"from": clock() // 1_000_000 + 300}) if request.method == "POST" else None
        )
        with server, client_of(server, clock) as client:
            server.now_ms = lambda: clock() // 1_000_000
            self.assert_refused(client, "LEAF_NOT_READY")
            client.ready()
            client.snowflake()

    def test_a_clock_that_is_set_back(self) -> None:
        with FakeServer() as server:
            clock = Clock()
            with client_of(server, clock) as client:
                client.ready()
                clock.step(100)
                first = client.snowflake()
                clock.step(-5)
                second = client.snowflake()
                self.assertEqual(first + 1, second)
                clock.step(-1)
                self.assert_refused(client, "LEAF_CLOCK_BACKWARDS")
                clock.step(7)
                self.assertGreater(client.snowflake(), second)

    def test_the_sequence_of_a_millisecond_ends(self) -> None:
        with FakeServer() as server:
            clock = Clock()
            with client_of(server, clock) as client:
                client.ready()
                ids = []
                with self.assertRaises(LeafError) as caught:
                    for _ in range(5000):
                        ids.append(client.snowflake())
                self.assertEqual("LEAF_OVERLOADED", caught.exception.code)
                self.assertEqual(4095, client.decode(ids[-1]).sequence)
                self.assertLess(client.decode(ids[0]).sequence, 1024)
                clock.step(1)
                self.assertEqual((clock.ms, 0), client.decode(client.snowflake())[::2])

    def test_snowflakes_span_milliseconds(self) -> None:
        with FakeServer() as server, client_of(server, Clock(runs=True)) as client:
            ids = client.snowflakes(10_000)
            self.assertEqual(ids, sorted(set(ids)))
            self.assertEqual(10_000, len(ids))

    def test_no_id_of_a_lost_worker(self) -> None:
        with FakeServer() as server:
            clock = Clock()
            with client_of(server, clock) as client:
                client.ready()
                newest = client.snowflake()
                server.script = lambda request, n: problem(409, "LEAF_LEASE_LOST") if request.method == "PUT" else None
                time.sleep(1.01)  # a window is not extended again before a tenth of it has passed
                clock.step(31_000)
                client.snowflake()
                server.wait_for(lambda requests: methods(requests)[:3] == ["POST", "PUT", "POST"])
                clock.step(1)
                client.ready()
                self.assertNotEqual(server.requests[0].body["lease"], server.requests[2].body["lease"])
                after = client.decode(client.snowflake())
                self.assertEqual(2, after.worker_id)
                self.assertGreater(after.timestamp, client.decode(newest).timestamp)

    def test_no_id_of_a_lost_worker_in_a_call_that_waits(self) -> None:
        with FakeServer() as server:
            clock = Clock()
            with client_of(server, clock) as client:
                client.ready()
                steps = client._core.snowflakes(5000)
                next(steps)  # the sequence of a millisecond is used up
                time.sleep(1.01)
                server.script = lambda request, n: problem(409, "LEAF_LEASE_LOST") if request.method == "PUT" else None
                window = client._core.window
                with window.generator.lock:
                    window.renew()
                # Between two looks of the call, the worker is lost, and another one acquired.
                while window.snapshot()["worker_id"] != 2:
                    time.sleep(0.01)
                clock.step(1)
                with self.assertRaises(StopIteration) as end:
                    while True:
                        next(steps)
                        clock.step(1)
                self.assertEqual({2}, {client.decode(id).worker_id for id in end.exception.value})

    def test_a_new_term_is_above_the_newest_timestamp(self) -> None:
        lost = threading.Event()
        with FakeServer() as server:
            clock = Clock()
            with client_of(server, clock) as client:
                client.ready()
                clock.step(50_000)
                client.snowflake()

                def script(request: Request, n: int) -> Any:
                    if request.method == "PUT" and not lost.is_set():
                        lost.set()
                        clock.step(-50_000)
                        return problem(404, "LEAF_LEASE_NOT_FOUND")
                    return None

                server.script = script
                time.sleep(1.01)
                clock.step(1)
                newest = client.decode(client.snowflake()).timestamp
                server.wait_for(lambda requests: methods(requests).count("POST") == 2)
                while client.snapshot()["window"]["worker_id"] != 2:  # type: ignore[index]
                    pass
                self.assert_refused(client, "LEAF_CLOCK_BACKWARDS")
                clock.step(50_000 - 5)
                self.assert_refused(client, "LEAF_NOT_READY")
                clock.step(6)
                self.assertGreater(client.decode(client.snowflake()).timestamp, newest)

    def test_extensions_tell_known_and_mark(self) -> None:
        fails = [2, 3]
        with FakeServer(lambda request, n: Reply(lost=True) if n in fails else None) as server:
            clock = Clock()
            server.window_ms = 2000
            with client_of(server, clock) as client:
                client.ready()
                server.wait_for(lambda requests: methods(requests).count("PUT") >= 4, 6)
            puts = [request.body for request in server.requests if request.method == "PUT"]
            self.assertEqual({(clock.ms + 2000, 1, 10_000)}, {(p["known"], p["workerId"], p["windowMs"]) for p in puts})
            self.assertEqual(1, len({put["mark"] for put in puts[:3]}))
            self.assertIn(puts[0]["mark"], range(1000))

    def test_a_server_of_an_earlier_version(self) -> None:
        def script(request: Request, n: int) -> Any:
            return problem(400, "LEAF_BODY_INVALID") if "known" in request.body else None

        with FakeServer(script) as server:
            with client_of(server, Clock()) as client:
                client.ready()
                client.snowflake()
            self.assertEqual(["POST", "DELETE", "DELETE"], methods(server.requests))
            self.assertNotIn("known", server.requests[2].body)

    def test_close_tells_the_newest_timestamp(self) -> None:
        for used in (True, False):
            with FakeServer() as server:
                clock = Clock()
                with client_of(server, clock) as client:
                    client.ready()
                    start = clock.ms
                    clock.step(5)
                    if used:
                        client.snowflake()
                request = server.requests[-1]
                self.assertEqual("DELETE", request.method)
                self.assertEqual("Bearer secret", request.headers["authorization"])
                self.assertEqual(start + 5 if used else start - 1, request.body["lastTimestamp"])
                self.assertEqual(start + server.window_ms, request.body["known"])

    def test_a_lease_whose_answer_was_lost_is_used_again(self) -> None:
        with FakeServer(lambda request, n: Reply(lost=True) if n < 4 else None) as server:
            with client_of(server, Clock()) as client:
                client.ready()
            self.assertEqual(1, len({request.body["lease"] for request in server.requests[:4]}))

    def test_another_layout_ends_it(self) -> None:
        with FakeServer() as server, client_of(server, Clock(), layout=BitLayout(41, 9, 13)) as client:
            for _ in range(2):
                with self.assertRaises(LeafError) as caught:
                    client.ready()
                self.assertEqual("LEAF_LAYOUT_MISMATCH", caught.exception.code)
            self.assertEqual(["POST"], methods(server.requests))

    def test_a_window_of_another_lease_is_not_used(self) -> None:
        server = FakeServer()
        server.script = lambda request, n: server.serve_window(request, lease="0" * 32) if n == 1 else None
        with server, client_of(server, Clock()) as client:
            client.ready()
            self.assertEqual(2, len(server.requests))

    def test_no_free_worker(self) -> None:
        with FakeServer(lambda request, n: problem(409, "LEAF_WORKERS_USED_UP")) as server:
            with client_of(server, Clock()) as client:
                for _ in range(3):
                    with self.assertRaises(LeafError) as caught:
                        client.snowflakes(1)
                    self.assertEqual("LEAF_WORKERS_USED_UP", caught.exception.code)
                self.assertEqual(["POST"], methods(server.requests))

    def test_the_other_servers_are_asked_when_one_has_no_worker_left(self) -> None:
        with FakeServer(lambda request, n: problem(409, "LEAF_WORKERS_USED_UP")) as full, FakeServer() as server:
            # The server without worker IDs is asked first.
            zones = [Server(full.url, "near"), Server(server.url, "far")]
            with LeafClient(zones, zone="near", window=WindowOptions(holder="test")) as client:
                self.assertEqual(1, client.decode(client.snowflakes(1)[0]).worker_id)
                self.assertEqual(["POST"], methods(full.requests))
                self.assertEqual(full.requests[0].body["lease"], server.requests[0].body["lease"])

    def test_ids_of_threads_are_unique(self) -> None:
        with FakeServer() as server, client_of(server, Clock(runs=True)) as client:
            client.ready()

            def take(_: int) -> List[int]:
                ids: List[int] = []
                while len(ids) < 20_000:
                    try:
                        ids.append(client.snowflake())
                    except LeafError as error:
                        self.assertEqual("LEAF_OVERLOADED", error.code)
                self.assertEqual(ids, sorted(ids))
                return ids

            with ThreadPoolExecutor(6) as pool:
                ids = [id for taken in pool.map(take, range(6)) for id in taken]
            self.assertEqual(len(ids), len(set(ids)))


class Layouts(unittest.TestCase):
    def test_vectors(self) -> None:
        path = Path(__file__).resolve().parents[3] / "test" / "conformance" / "worker-windows.json"
        if not path.exists():
            self.skipTest("the vectors are in the repository only")
        vectors = json.loads(path.read_text())
        self.assertTrue(vectors["compose"])
        for vector in vectors["compose"]:
            bits = vectors["layouts"][vector["layout"]]
            layout = BitLayout(bits["timeBits"], bits["workerBits"], bits["sequenceBits"], bits["epoch"])
            fields = (vector["timestamp"], vector["workerId"], vector["sequence"])
            self.assertEqual(int(vector["id"]), layout.compose(*fields))
            self.assertEqual(fields, layout.decode(int(vector["id"])))

    def test_refuses_what_is_not_an_id(self) -> None:
        for id in (-1, 2**63):
            with self.assertRaises(LeafError) as caught:
                BitLayout().decode(id)
            self.assertEqual("LEAF_ID_INVALID", caught.exception.code)

    def test_refuses_invalid_layouts(self) -> None:
        for bits in ((42, 10, 12), (30, 10, 12), (41, 0, 12), (41, 10, 12, 1_288_834_974)):
            with self.assertRaises(LeafError) as caught:
                BitLayout(*bits)
            self.assertEqual("LEAF_LAYOUT_INVALID", caught.exception.code)
        self.assertEqual(LAYOUT["epoch"], BitLayout().epoch)


if __name__ == "__main__":
    unittest.main()

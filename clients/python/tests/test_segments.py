from __future__ import annotations

import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timezone
from typing import Any, List
from unittest import mock

from leaf_ids import EjectionOptions, LeafClient, LeafError, SegmentOptions
from leaf_ids._segments import LockedIterator

from .fake_server import FakeServer, Reply, Request, problem

FAST = EjectionOptions(failures=1000, first_ms=1, max_ms=1)


def client_of(*servers: FakeServer, **options: Any) -> LeafClient:
    return LeafClient([server.url for server in servers], **{"ejection": FAST, "timeout_ms": 3000, **options})


def ranges(tag: str, *pairs: Any, **fields: Any) -> Reply:
    options = {name: fields.pop(name) for name in ("hold", "nonce") if name in fields}
    return Reply(200, {"tag": tag, "ranges": [{"from": str(a), "to": str(b)} for a, b in pairs], **fields}, **options)


class Segments(unittest.TestCase):
    def assert_code(self, code: str, error: LeafError) -> None:
        self.assertEqual(code, error.code, error.message)

    def test_ids_ascend_without_gaps(self) -> None:
        with FakeServer() as server, client_of(server) as client:
            ids = [client.next("order") for _ in range(500)]
            ids += client.next_many("order", 1000)
            ids.append(client.next("order"))
            self.assertEqual(list(range(1, 1502)), ids)

    def test_prefetches_when_a_tenth_is_used(self) -> None:
        with FakeServer() as server, client_of(server) as client:
            for _ in range(10):
                client.next("order")
            self.assertEqual(1, len(server.requests))
            client.next("order")
            server.wait_for(lambda requests: len(requests) == 2)

    def test_sizes_double_while_ids_last_less_than_the_duration(self) -> None:
        with FakeServer() as server, client_of(server) as client:
            for _ in range(2000):
                client.next("order")
            sizes = [request.query["size"] for request in server.requests]
            self.assertEqual(["100", "100", "200", "400", "800"], sizes[:5])

    def test_try_next_does_not_wait(self) -> None:
        with FakeServer() as server, client_of(server) as client:
            self.assertIsNone(client.try_next("order"))
            self.assertEqual([], server.requests)
            client.next("order")
            self.assertEqual(2, client.try_next("order"))

    def test_lost_answers_become_gaps(self) -> None:
        with FakeServer() as server, client_of(server) as client:

            def script(request: Request, n: int) -> Any:
                if n > 2:
                    return None
                server.serve(request)
                return Reply(lost=True)

            server.script = script
            self.assertEqual(201, client.next("order"))

    def test_a_late_answer_is_not_used(self) -> None:
        release = threading.Event()

        def script(request: Request, n: int) -> Any:
            return ranges("order", (1, 100), hold=release) if n == 1 else ranges("order", (101, 200))

        with FakeServer(script) as server, client_of(server, request_timeout_ms=200) as client:
            self.assertEqual(101, client.next("order"))
            release.set()
            self.assertEqual(list(range(102, 112)), client.next_many("order", 10))

    def test_an_answer_that_trickles_counts_as_late(self) -> None:
        class Trickle(threading.Event):
            def wait(self, timeout: Any = None) -> bool:
                return super().wait(0.15)

        head = b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n"
        with FakeServer(lambda request, n: Reply(raw=head, hold=Trickle())) as server:
            with client_of(server, request_timeout_ms=100, timeout_ms=500) as client:
                with self.assertRaises(LeafError) as caught:
                    client.next("order")
                self.assert_code("LEAF_SERVERS_UNAVAILABLE", caught.exception)

    def test_refuses_answers_that_overlap(self) -> None:
        answers = [(1, 100), (1, 100), (50, 149), (100, 199), (101, 200)]
        with FakeServer(lambda request, n: ranges("order", answers[min(n, 5) - 1])) as server:
            with client_of(server) as client:
                self.assertEqual(list(range(1, 201)), client.next_many("order", 100) + client.next_many("order", 100))

    def test_refuses_the_answer_to_another_request(self) -> None:
        def script(request: Request, n: int) -> Any:
            return ranges("order", (1, 100), nonce="other") if n < 3 else ranges("order", (201, 300))

        with FakeServer(script) as server, client_of(server) as client:
            self.assertEqual(201, client.next("order"))

    def test_refuses_invalid_answers(self) -> None:
        invalid = [
            ranges("other", (1, 100)),
            ranges("order", (1, 99)),
            ranges("order", (51, 100), (1, 50)),
            ranges("order", (0, 99)),
            ranges("order", (2**63 - 50, 2**63 + 49)),
            Reply(raw=b"HTTP/1.1 200 OK\r\ncontent-length: 2000000\r\n\r\n"),
            Reply(raw=b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{}}"),
            Reply(raw=b"nonsense\r\n\r\n"),
            Reply(302, {}),
        ]
        script = lambda request, n: invalid[n - 1] if n <= len(invalid) else ranges("order", (501, 600))  # noqa: E731
        with FakeServer(script) as server, client_of(server, timeout_ms=20_000) as client:
            self.assertEqual(501, client.next("order"))
            self.assertEqual(len(invalid) + 1, len(server.requests))

    def test_reads_chunks(self) -> None:
        body = b'{"tag":"order","ranges":[{"from":"1","to":"100"}]}'
        chunks = b"5\r\n" + body[:5] + b"\r\n%x;a=b\r\n" % len(body[5:]) + body[5:] + b"\r\n0\r\nx: y\r\n\r\n"
        raw = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + chunks
        with FakeServer(lambda request, n: Reply(raw=raw)) as server, client_of(server) as client:
            self.assertEqual(1, client.next("order"))

    def test_ids_of_several_ranges(self) -> None:
        with FakeServer(lambda request, n: ranges("order", (1, 40), (101, 160))) as server, client_of(server) as client:
            ids = client.next_many("order", 50) + [client.next("order") for _ in range(50)]
            self.assertEqual([*range(1, 41), *range(101, 161)], ids)

    def test_a_refusal_is_remembered_for_a_second(self) -> None:
        with FakeServer(lambda request, n: problem(404, "LEAF_TAG_NOT_FOUND")) as server, client_of(server) as client:
            for _ in range(3):
                with self.assertRaises(LeafError) as caught:
                    client.next("order")
                self.assert_code("LEAF_TAG_NOT_FOUND", caught.exception)
            self.assertEqual(1, len(server.requests))

    def test_the_last_ids_of_a_tag(self) -> None:
        server = FakeServer()

        def script(request: Request, n: int) -> Any:
            left = 90 - server.taken.get("order", 0)
            return problem(503, "LEAF_TAG_EXHAUSTED") if int(request.query["size"]) > left else None

        server.script = script
        with server, client_of(server) as client:
            ids = [client.next("order"), *client.next_many("order", 80)]
            ids += [client.next("order") for _ in range(9)]
            self.assertEqual(list(range(1, 91)), ids)
            self.assertLess(len(server.requests), 45)
            with self.assertRaises(LeafError) as caught:
                client.next("order")
            self.assert_code("LEAF_TAG_EXHAUSTED", caught.exception)

    def test_nothing_is_kept_of_an_idle_tag(self) -> None:
        script = lambda request, n: problem(404, "LEAF_TAG_NOT_FOUND") if n > 1 else ranges("a", (1, 1))  # noqa: E731
        with FakeServer(script) as server, client_of(server, segment=SegmentOptions(min_size=1)) as client:
            client.next("a")
            server.wait_for(lambda requests: len(requests) == 2)
            while client.snapshot()["tags"][0]["loading"]:  # type: ignore[index]
                pass
            with mock.patch("leaf_ids._core._MAX_TAGS", 1), self.assertRaises(LeafError):
                client.next("b")
            self.assertEqual([], list(client._table))

    def test_another_server_serves_while_one_rests(self) -> None:
        busy = FakeServer(lambda request, n: problem(503, "LEAF_TAG_PAUSED", retry_after="60"))
        with busy, FakeServer() as server, client_of(busy, server) as client:
            client.next_many("order", 1000)
            client.next_many("order", 1000)
            self.assertLessEqual(len(busy.requests), 1)

    def test_servers_of_the_own_zone_come_first(self) -> None:
        from leaf_ids import Server

        with FakeServer() as far, FakeServer() as near:
            with LeafClient([Server(far.url, "b"), Server(near.url, "a")], zone="a") as client:
                for tag in ("a", "b", "c", "d", "e", "f"):
                    client.next(tag)
            self.assertEqual((0, 6), (len(far.requests), len(near.requests)))

    def test_ids_in_memory_outlast_the_server(self) -> None:
        with FakeServer() as server:
            client = client_of(server, timeout_ms=1000)
            client.next("order")
        with client:
            self.assertEqual(list(range(2, 101)), [client.next("order") for _ in range(99)])
            with self.assertRaises(LeafError) as caught:
                client.next_many("order", 5)
            self.assert_code("LEAF_SERVERS_UNAVAILABLE", caught.exception)

    def test_a_call_for_too_many_ids_takes_none(self) -> None:
        with FakeServer() as server:
            client = client_of(server, timeout_ms=1000)
            client.next("order")
        with client:
            with self.assertRaises(LeafError):
                client.next_many("order", 100)
            self.assertEqual(2, client.next("order"))

    def test_calls_above_max_waiting_are_refused(self) -> None:
        release = threading.Event()
        script = lambda request, n: ranges("order", (1, 100), hold=release)  # noqa: E731
        with FakeServer(script) as server, client_of(server, max_waiting=2) as client, ThreadPoolExecutor(2) as pool:
            calls = [pool.submit(client.next, "order") for _ in range(2)]
            server.wait_for(lambda requests: requests)
            while client.snapshot()["waiting"] != 2:
                pass
            with self.assertRaises(LeafError) as caught:
                client.next("order")
            self.assert_code("LEAF_OVERLOADED", caught.exception)
            release.set()
            self.assertEqual({1, 2}, {call.result() for call in calls})

    def test_close_ends_waiting_calls_and_threads(self) -> None:
        release = threading.Event()
        before = threading.active_count()
        with FakeServer(lambda request, n: Reply(lost=True, hold=release)) as server, ThreadPoolExecutor(1) as pool:
            client = client_of(server)
            call = pool.submit(client.next, "order")
            server.wait_for(lambda requests: requests)
            client.close()
            error = call.exception(2)
            assert isinstance(error, LeafError)
            self.assert_code("LEAF_NOT_READY", error)
            for use in (lambda: client.next("order"), client.snowflake, client.ready):
                with self.assertRaises(LeafError):
                    use()
            client.close()
            self.assertEqual([], [thread for thread in threading.enumerate() if thread.name == "leaf-ids"])
            release.set()
        deadline = time.monotonic() + 10
        while threading.active_count() > before + 1 and time.monotonic() < deadline:
            time.sleep(0.01)  # the threads of the server end by themselves
        self.assertGreaterEqual(before + 1, threading.active_count())

    def test_ids_of_threads_are_unique(self) -> None:
        with FakeServer() as server, client_of(server, segment=SegmentOptions(min_size=10, max_size=500)) as client:

            def take(index: int) -> List[int]:
                ids: List[int] = []
                while len(ids) < 5000:
                    ids += client.next_many("order", 7) if len(ids) % 11 == index else [client.next("order")]
                return ids

            with ThreadPoolExecutor(8) as pool:
                ids = [id for taken in pool.map(take, range(8)) for id in taken]
            self.assertEqual(len(ids), len(set(ids)))

    def test_locked_iterators_serve_all_ids(self) -> None:
        with FakeServer() as server, client_of(server) as client:
            client._core._tools.locked_iterators = True
            ids = [client.next("order") for _ in range(300)] + client.next_many("order", 200)
            self.assertEqual(list(range(1, 501)), ids)
            self.assertIsInstance(client._core._buffers["order"]._current, LockedIterator)  # type: ignore[union-attr]

    def test_invalid_tags_and_sizes(self) -> None:
        with FakeServer() as server, client_of(server) as client:
            for tag in ("", ".", "..", "a/b", "a" * 129, "ü"):
                with self.assertRaises(LeafError) as caught:
                    client.next(tag)
                self.assert_code("LEAF_TAG_INVALID", caught.exception)
            for count in (0, 10_001):
                with self.assertRaises(LeafError) as caught:
                    client.next_many("order", count)
                self.assert_code("LEAF_SIZE_INVALID", caught.exception)
            self.assertEqual([], server.requests)

    def test_the_token_is_sent(self) -> None:
        with FakeServer() as server, client_of(server, token=lambda: "secret") as client:
            client.next("order")
            self.assertEqual("Bearer secret", server.requests[0].headers["authorization"])

    def test_a_token_function_that_fails(self) -> None:
        def token() -> str:
            raise RuntimeError("secret")

        with FakeServer() as server, client_of(server, token=token) as client:
            with self.assertRaises(LeafError) as caught:
                client.next("order")
            self.assert_code("LEAF_UNAUTHORIZED", caught.exception)
            self.assertNotIn("secret", str(caught.exception))


class StrictTags(unittest.TestCase):
    def test_prefetched_ids_are_dropped(self) -> None:
        with FakeServer() as server, client_of(server) as client:
            server.strict = ["ledger"]
            self.assertEqual([101, 102, 103], [client.next("ledger") for _ in range(3)])
            self.assertIsNone(client.try_next("ledger"))
            self.assertEqual(["100", "1", "1", "1"], [request.query["size"] for request in server.requests])

    def test_one_request_for_exactly_the_calls_that_wait(self) -> None:
        release = threading.Event()
        with FakeServer() as server, client_of(server) as client, ThreadPoolExecutor(5) as pool:
            server.strict = ["ledger"]
            client.next("ledger")

            def script(request: Request, n: int) -> Any:
                reply = server.serve(request)
                reply.hold = release if n == 3 else None
                return reply

            server.script = script
            first = pool.submit(client.next, "ledger")
            server.wait_for(lambda requests: len(requests) == 3)
            others = [pool.submit(client.next_many, "ledger", 2) for _ in range(4)]
            while client.snapshot()["waiting"] != 5:
                pass
            self.assertEqual(3, len(server.requests))
            release.set()
            self.assertEqual(102, first.result())
            self.assertEqual(set(range(103, 111)), {id for other in others for id in other.result()})
            self.assertEqual("8", server.requests[3].query["size"])

    def test_answers_that_are_not_above_the_highest_are_refused(self) -> None:
        answers = [(1, 100), (201, 201), (201, 201), (150, 150), (202, 202)]
        script = lambda request, n: ranges("ledger", answers[n - 1], order="strict")  # noqa: E731
        with FakeServer(script) as server, client_of(server) as client:
            self.assertEqual([201, 202], [client.next("ledger"), client.next("ledger")])
            self.assertEqual(5, len(server.requests))

    def test_a_call_that_gave_up_leaves_a_gap(self) -> None:
        release = threading.Event()
        with FakeServer() as server, client_of(server, timeout_ms=1000, request_timeout_ms=5000) as client:
            server.strict = ["ledger"]
            client.next("ledger")
            server.script = lambda request, n: ranges("ledger", (102, 102), hold=release) if n == 3 else None
            with self.assertRaises(LeafError):
                client.next("ledger")
            server.taken["ledger"] = 102
            release.set()
            self.assertEqual(103, client.next("ledger"))

    def test_a_call_for_more_than_the_tag_has_left_fails_alone(self) -> None:
        release = threading.Event()
        with FakeServer() as server, client_of(server) as client, ThreadPoolExecutor(3) as pool:
            server.strict = ["ledger"]
            client.next("ledger")

            def script(request: Request, n: int) -> Any:
                if int(request.query["size"]) > 3:
                    return problem(503, "LEAF_TAG_EXHAUSTED")
                reply = server.serve(request)
                reply.hold = release if n == 3 else None
                return reply

            server.script = script
            calls = [pool.submit(client.next, "ledger")]
            server.wait_for(lambda requests: len(requests) == 3)
            calls += [pool.submit(client.next_many, "ledger", count) for count in (5, 1)]  # type: ignore[arg-type]
            while client.snapshot()["waiting"] != 3:
                pass
            release.set()
            error = calls[1].exception()
            assert isinstance(error, LeafError)
            self.assertEqual("LEAF_TAG_EXHAUSTED", error.code)
            self.assertEqual([103], calls[2].result())

    def test_a_used_up_tag_is_asked_once_a_second_for_as_many_ids(self) -> None:
        with FakeServer() as server, client_of(server) as client:
            server.strict = ["ledger"]
            client.next("ledger")
            left = 2

            def script(request: Request, n: int) -> Any:
                return problem(503, "LEAF_TAG_EXHAUSTED") if int(request.query["size"]) > left else None

            server.script = script
            for count in [5] * 10 + [3] * 10 + [2] + [3] * 10:
                if count == 2:
                    self.assertEqual([102, 103], client.next_many("ledger", 2))
                    continue
                with self.assertRaises(LeafError) as caught:
                    client.next_many("ledger", count)
                self.assertEqual("LEAF_TAG_EXHAUSTED", caught.exception.code)
            self.assertEqual(["5", "3", "2"], [request.query["size"] for request in server.requests[2:]])
            left = 5
            later: List[int] = []
            while not later:
                try:
                    later = client.next_many("ledger", 5)
                except LeafError as error:
                    self.assertEqual("LEAF_TAG_EXHAUSTED", error.code)
            self.assertEqual([104, 105, 106, 107, 108], later)


class Periods(unittest.TestCase):
    def test_one_request_for_each_number(self) -> None:
        with FakeServer() as server, client_of(server) as client:
            self.assertEqual(("2026-11", 1), client.next_in_period("invoice"))
            self.assertEqual(("2026-10", 2), client.next_in_period("invoice", date(2026, 10, 31)))
            at = datetime(2026, 9, 1, tzinfo=timezone.utc)
            self.assertEqual(("2026-09", 3), client.next_in_period("invoice", at))
            sent = [request.query.get("at") for request in server.requests]
            self.assertEqual([None, "2026-10-31T12:00:00Z", "2026-09-01T00:00:00.000Z"], sent)

    def test_no_request_for_a_call_that_has_ended(self) -> None:
        release = threading.Event()
        script = lambda request, n: Reply(lost=True, hold=release) if n == 1 else None  # noqa: E731
        with FakeServer(script) as server, client_of(server, max_requests=1, timeout_ms=1000, request_timeout_ms=5000) as client:
            with ThreadPoolExecutor(5) as pool:
                for call in [pool.submit(client.next_in_period, "invoice") for _ in range(5)]:
                    self.assertIsInstance(call.exception(), LeafError)
            release.set()
            client.next("order")
            self.assertEqual(1, len([request for request in server.requests if "period" in request.path]))

    def test_a_time_without_a_zone_is_refused(self) -> None:
        with FakeServer() as server, client_of(server) as client:
            with self.assertRaises(LeafError) as caught:
                client.next_in_period("invoice", datetime(2026, 9, 1))
            self.assertEqual("LEAF_PERIOD_INVALID", caught.exception.code)

    def test_repeated_numbers_are_refused_within_a_period(self) -> None:
        answers = [("2026-11", 1), ("2026-12", 1), ("2026-11", 1)]
        script = lambda request, n: ranges("invoice", (answers[n - 1][1],) * 2, period=answers[n - 1][0])  # noqa: E731
        with FakeServer(script) as server, client_of(server) as client:
            self.assertEqual(("2026-11", 1), client.next_in_period("invoice"))
            self.assertEqual(("2026-12", 1), client.next_in_period("invoice"))
            with self.assertRaises(LeafError) as caught:
                client.next_in_period("invoice")
            self.assertEqual("LEAF_SERVERS_UNAVAILABLE", caught.exception.code)


if __name__ == "__main__":
    unittest.main()

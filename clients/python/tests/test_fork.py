"""A child never issues IDs of its parent."""

from __future__ import annotations

import ctypes
import os
import pickle
import sys
import threading
import unittest
from typing import Any, Callable, List, Tuple

from leaf_ids import LeafClient, LeafError

from .fake_server import FakeServer


def in_child(fork: Callable[[], int], action: Callable[[], Any]) -> Any:
    """The result of ``action`` in a child; an exception counts as a result."""
    reader, writer = os.pipe()
    if fork() == 0:
        try:
            try:
                result = action()
            except BaseException as error:
                result = error
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(pickle.dumps(result))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        content = pipe.read()
    os.wait()
    result = pickle.loads(content)
    if isinstance(result, BaseException):
        raise result
    return result


def code_of(use: Callable[[], Any]) -> str:
    """The code of the error of a call."""
    try:
        return f"no error: {use()}"
    except LeafError as error:
        return error.code


def c_fork() -> int:
    """A fork that no hook of Python notices, as by a server in C that embeds Python."""
    return int(ctypes.PyDLL(None).fork())


@unittest.skipUnless(hasattr(os, "fork"), "no fork")
class Fork(unittest.TestCase):
    def test_a_child_starts_afresh(self) -> None:
        with FakeServer() as server, LeafClient([server.url]) as client:
            client.ready()
            parent_worker = client.decode(client.snowflake()).worker_id
            next_id, snowflake = client.next, client.snowflake
            ids = [next_id("order") for _ in range(20)]
            requests = len(server.requests)

            def child() -> Tuple[List[int], int, int]:
                empty = client.try_next("order")
                assert empty is None, f"{empty} is an ID of the parent"
                assert code_of(snowflake) == "LEAF_NOT_READY", "an ID of the worker of the parent"
                client.ready()
                worker = client.decode(snowflake()).worker_id
                taken = [next_id("order") for _ in range(20)] + client.next_many("order", 5)
                client.close()
                return taken, worker, threading.active_count()

            children = [in_child(os.fork, child) for _ in range(2)]
            ids += [next_id("order") for _ in range(50)]
            for taken, worker, _ in children:
                self.assertNotEqual(parent_worker, worker)
                ids += taken
            self.assertEqual(len(ids), len(set(ids)))
            self.assertEqual(3, len({parent_worker, *(worker for _, worker, _ in children)}))
            # The worker ID of the parent was not given back, and its connections still serve it.
            self.assertEqual(parent_worker, client.decode(client.snowflake()).worker_id)
            deleted = [request.path for request in server.requests[requests:] if request.method == "DELETE"]
            self.assertEqual(2, len(set(deleted)))
            self.assertNotIn(f"/api/workers/{server.requests[0].body['lease']}", deleted)

    @unittest.skipUnless(sys.platform == "linux", "the kernel reports the fork on Linux only")
    def test_a_fork_without_hooks_is_refused(self) -> None:
        with FakeServer() as server, LeafClient([server.url]) as client:
            client.ready()
            client.snowflake()
            client.next("order")

            def child() -> List[str]:
                uses = (client.snowflake, lambda: client.next("order"), lambda: client.try_next("order"))
                codes = [code_of(use) for use in uses]
                client.close()
                return codes

            self.assertEqual(["LEAF_NOT_READY"] * 3, in_child(c_fork, child))
            self.assertEqual(2, client.next("order"))
            client.snowflake()

    def test_fork_while_threads_take_ids(self) -> None:
        with FakeServer() as server, LeafClient([server.url]) as client:
            client.ready()
            stop = threading.Event()
            taken: List[List[int]] = [[], [], []]

            def take(ids: List[int]) -> None:
                while not stop.is_set():
                    ids.extend((client.next("order"), client.snowflake()))

            threads = [threading.Thread(target=take, args=(ids,)) for ids in taken]
            for thread in threads:
                thread.start()

            def child() -> List[int]:
                client.ready()
                return [client.next("order") for _ in range(300)] + [client.snowflake() for _ in range(300)]

            ids = [id for _ in range(5) for id in in_child(os.fork, child)]
            stop.set()
            for thread in threads:
                thread.join()
            ids += [id for part in taken for id in part]
            self.assertEqual(len(ids), len(set(ids)))

    def test_a_closed_client_stays_closed(self) -> None:
        with FakeServer() as server:
            client = LeafClient([server.url])
            client.next("order")
            client.close()

            def child() -> str:
                client.close()
                return code_of(lambda: client.next("order")) + " " + code_of(client.snowflake)

            self.assertEqual("LEAF_NOT_READY LEAF_NOT_READY", in_child(os.fork, child))


if __name__ == "__main__":
    unittest.main()

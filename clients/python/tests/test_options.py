from __future__ import annotations

import copy
import pickle
import threading
import unittest
from typing import Any

from leaf_ids import EjectionOptions, LeafClient, LeafError, SegmentOptions, Server, WindowOptions


class Options(unittest.TestCase):
    def test_lists_all_faults(self) -> None:
        with self.assertRaises(LeafError) as caught:
            LeafClient(
                ["ftp://a", "http://b?x=1", "http://c", Server("http://c/")],
                timeout_ms=0,
                token="two words",
                segment=SegmentOptions(min_size=10, max_size=5),
                ejection=EjectionOptions(first_ms=10, max_ms=5),
                window=WindowOptions(window_ms=9999, holder=""),
            )
        self.assertEqual("LEAF_CONFIG_INVALID", caught.exception.code)
        for name in ("[0]", "[1]", "[3]", "timeout_ms", "token", "segment.max", "ejection.max", "window_ms"):
            self.assertIn(name, caught.exception.message)

    def test_refuses_servers_that_are_none(self) -> None:
        servers: Any
        for servers in ([], "http://a", [1], ["http://"], ["http://a b"], ["http://a:99999"], ["http://u:p@a"]):
            with self.assertRaises(LeafError):
                LeafClient(servers)

    def test_no_token_in_a_text(self) -> None:
        from leaf_ids._options import Options

        window = WindowOptions(token="secret")
        self.assertNotIn("secret", repr(window) + repr(Options(["http://a"], token="secret", window=window)))

    def test_starts_no_thread(self) -> None:
        before = set(threading.enumerate())
        with LeafClient(["http://127.0.0.1:1/leaf", Server("https://[::1]:2", "a")]):
            self.assertEqual(set(), set(threading.enumerate()) - before)

    def test_errors_can_be_copied_to_another_process(self) -> None:
        error = LeafError("LEAF_NOT_READY", "later", status=503, retry_after_ms=5)
        for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), error.fresh()):
            self.assertEqual(vars(error), vars(twin))
            self.assertEqual("LEAF_NOT_READY: later", str(twin))
            self.assertTrue(twin.retryable)


if __name__ == "__main__":
    unittest.main()

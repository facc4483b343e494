"""Issues snowflake IDs under a worker window and prints them, from the pseudo-code of docs/worker-windows.md.

worker-windows.py <url> <token> <window in ms>: until SIGTERM
worker-windows.py --vectors <file>: checks the test vectors
"""

import http.client
import json
import secrets
import signal
import sys
import threading
import time
from urllib.parse import urlsplit


class Wait(Exception):
    """No ID now; one later without another answer of the server."""


class Refused(Exception):
    """No ID until the server answers."""


def compose(layout, timestamp, worker, sequence):
    shift = layout["workerBits"] + layout["sequenceBits"]
    return (timestamp - layout["epoch"]) << shift | worker << layout["sequenceBits"] | sequence


class Window:
    """Which timestamps may be used. The caller holds the lock."""

    def __init__(self):
        self.answer = None
        self.used = 0  # the newest timestamp of any ID of this process
        self.newest = None  # the newest timestamp under this lease, or from - 1
        self.sequence = 0

    def accept(self, answer):
        if self.answer is None:
            self.newest = answer["from"] - 1
        self.answer = answer

    def end(self):
        self.answer = None

    def next_id(self, now):
        if self.answer is None:
            raise Refused("no worker ID")
        if now < max(self.answer["from"], self.used):
            raise Wait("before the window, or the clock was set back")
        if now > self.answer["until"]:
            raise Refused("after the window")
        layout = self.answer["layout"]
        if now > self.used:
            self.sequence = 0
        elif self.sequence + 1 < 1 << layout["sequenceBits"]:
            self.sequence += 1
        else:
            raise Wait("the IDs of this millisecond are used up")
        self.used = self.newest = now
        return compose(layout, now, self.answer["workerId"], self.sequence)


class Client:
    def __init__(self, url, token, window_ms):
        self.url = urlsplit(url)
        self.token = token
        self.window_ms = window_ms
        self.window = Window()
        self.lock = threading.Lock()
        self.stopping = threading.Event()

    def request(self, method, path, body):
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=1.5)
        headers = {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"}
        try:
            connection.request(method, "/api/workers" + path, json.dumps(body), headers)
            response = connection.getresponse()
            text = response.read()
            return response.status, json.loads(text) if response.status in (200, 201) else None
        except (OSError, http.client.HTTPException, ValueError):
            return 0, None
        finally:
            connection.close()

    def keep(self):
        """Acquires a worker ID and extends its window, until the process stops."""
        while not self.stopping.is_set():
            self.hold(secrets.token_hex(16))

    def hold(self, lease):
        answer = mark = None
        while True:
            if answer is None:
                body = {"lease": lease, "holder": "python", "windowMs": self.window_ms}
                status, new = self.request("POST", "", body)
            else:
                # A copy of this process has another time, also if it draws the same number.
                mark = (secrets.randbelow(1000) + time.monotonic_ns()) % 1000 if mark is None else mark
                progress = {"known": answer["until"], "mark": mark}
                body = {"windowMs": self.window_ms, "workerId": answer["workerId"], **progress}
                status, new = self.request("PUT", "/" + lease, body)
            if new is not None and new.get("lease") == lease:
                answer, mark = new, None
                with self.lock:
                    self.window.accept(answer)
                self.stopping.wait((answer["until"] - answer["now"]) / 2000)
            elif status in (404, 409):
                with self.lock:
                    self.window.end()
                self.stopping.wait(1)
                return
            else:
                self.stopping.wait(min(0.1, self.window_ms / 20000))
            if self.stopping.is_set():
                return self.release(lease, answer)

    def release(self, lease, answer):
        with self.lock:
            newest = 0 if self.window.newest is None else self.window.newest
            self.window.end()
        for _ in range(5):
            known = {} if answer is None else {"known": answer["until"]}
            status, _answer = self.request("DELETE", "/" + lease, {"lastTimestamp": newest, **known})
            if status == 204:
                return

    def next_id(self):
        with self.lock:
            return self.window.next_id(time.time_ns() // 1_000_000)


def check_vectors(file):
    with open(file, encoding="utf-8") as opened:
        vectors = json.load(opened)
    for vector in vectors["compose"]:
        layout = vectors["layouts"][vector["layout"]]
        assert str(compose(layout, vector["timestamp"], vector["workerId"], vector["sequence"])) == vector["id"], vector
    for case in vectors["windows"]:
        window = Window()
        for step in case["steps"]:
            if "answer" in step:
                window.accept({**step["answer"], "layout": vectors["layouts"]["default"]})
            elif "lost" in step:
                window.end()
            else:
                assert decide(window, step["now"]) == step["expect"], (case["name"], step)
    print(len(vectors["compose"]) + len(vectors["windows"]), "vectors")


def decide(window, now):
    try:
        window.next_id(now)
    except Wait:
        return "wait"
    except Refused:
        return "refuse"
    return "issue"


def main(url, token, window_ms):
    client = Client(url, token, int(window_ms))
    signal.signal(signal.SIGTERM, lambda *_: client.stopping.set())
    keeper = threading.Thread(target=client.keep)
    keeper.start()
    while not client.stopping.wait(0.001):
        try:
            print(client.next_id(), flush=True)
        except (Wait, Refused):
            pass
    keeper.join()


if __name__ == "__main__":
    check_vectors(sys.argv[2]) if sys.argv[1] == "--vectors" else main(*sys.argv[1:])

"""A server over real HTTP whose answers a test scripts."""

from __future__ import annotations

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, NamedTuple, Optional
from urllib.parse import parse_qs, urlsplit

LAYOUT = {"epoch": 1288834974657, "timeBits": 41, "workerBits": 10, "sequenceBits": 12}


class Request(NamedTuple):
    method: str
    path: str
    query: Dict[str, str]
    body: Dict[str, Any]
    headers: Dict[str, str]


class Reply:
    """What the server sends; ``raw`` replaces everything, ``hold`` delays it, ``lost`` closes the connection."""

    def __init__(self, status: int = 200, body: Optional[Dict[str, Any]] = None, **options: Any) -> None:
        self.status = status
        self.body = body
        self.nonce: Optional[str] = options.get("nonce")
        self.hold: Optional[threading.Event] = options.get("hold")
        self.lost: bool = options.get("lost", False)
        self.raw: Optional[bytes] = options.get("raw")
        self.retry_after: Optional[str] = options.get("retry_after")


def problem(status: int, code: str, **options: Any) -> Reply:
    return Reply(status, {"status": status, "code": code, "detail": "a test"}, **options)


Script = Callable[[Request, int], Optional[Reply]]


class FakeServer:
    """Serves ranges of tags, numbers of periods and worker windows, unless ``script(request, n)`` has a reply; n counts
    the requests from 1."""

    def __init__(self, script: Optional[Script] = None) -> None:
        self.script = script or (lambda request, n: None)
        self.requests: List[Request] = []
        self.taken: Dict[str, int] = {}
        self.strict: List[str] = []
        self.window_ms = 60_000
        self.now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
        self._changed = threading.Condition()
        self._workers = 0
        self._connections: List[socket.socket] = []
        self._leases: Dict[str, Dict[str, Any]] = {}
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                super().setup()
                fake._connections.append(self.connection)

            def answer(self) -> None:
                url = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(url.query).items()}
                content = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Request(self.command, url.path, query, json.loads(content or b"{}"), headers)
                with fake._changed:
                    fake.requests.append(request)
                    reply = fake.script(request, len(fake.requests)) or fake.serve(request)
                    fake._changed.notify_all()
                self.send(request, reply)

            do_GET = do_POST = do_PUT = do_DELETE = answer

            def send(self, request: Request, reply: Reply) -> None:
                if reply.hold is not None:
                    reply.hold.wait(10)
                self.close_connection = reply.lost or reply.raw is not None
                if reply.raw is not None:
                    self.wfile.write(reply.raw)
                if self.close_connection:
                    return
                content = b"" if reply.body is None else json.dumps(reply.body).encode()
                self.send_response(reply.status)
                if reply.status != 204:
                    kind = "application/json" if reply.status < 400 else "application/problem+json"
                    self.send_header("content-type", kind)
                    self.send_header("content-length", str(len(content)))
                if reply.retry_after is not None:
                    self.send_header("retry-after", reply.retry_after)
                self.send_header("leaf-nonce", reply.nonce or request.query.get("nonce", "none"))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_: Any) -> None:
                pass  # the client has closed the connection

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def serve(self, request: Request) -> Reply:
        """As a server does."""
        if request.path.startswith("/api/workers"):
            return self.serve_window(request)
        _, _, _, kind, tag = request.path.split("/")
        size = int(request.query["size"])
        first = self.taken.get(tag, 0) + 1
        self.taken[tag] = first + size - 1
        body: Dict[str, Any] = {"tag": tag, "ranges": [{"from": str(first), "to": str(first + size - 1)}]}
        if kind == "period":
            body["period"] = request.query.get("at", "2026-11")[:7]
        if tag in self.strict:
            body["order"] = "strict"
        return Reply(200, body)

    def serve_window(self, request: Request, **changes: Any) -> Reply:
        if request.method == "DELETE":
            return Reply(204)
        lease = request.body.get("lease") or request.path.rsplit("/", 1)[1]
        now = self.now_ms()
        if lease not in self._leases:
            self._workers += 1
            self._leases[lease] = {"workerId": self._workers, "from": now}
        window = {**self._leases[lease], "lease": lease, "until": now + self.window_ms, "now": now, "layout": LAYOUT}
        return Reply(200, {**window, **changes})

    def wait_for(self, condition: Callable[[List[Request]], object], seconds: float = 5) -> None:
        """Waits until the requests fulfil the condition."""
        with self._changed:
            if not self._changed.wait_for(lambda: condition(self.requests), seconds):
                raise AssertionError(f"no such requests: {self.requests}")

    def __enter__(self) -> FakeServer:
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        for connection in self._connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # closed before
        self._server.server_close()


class Clock:
    """A wall clock that a test sets. It stands still, unless ``runs``. ``after`` is called after each read."""

    def __init__(self, runs: bool = False) -> None:
        self.runs = runs
        self.ns = time.time_ns()
        self.reads = 0
        self.after: Callable[[int], object] = lambda reads: None
        self._origin = time.monotonic_ns()

    def __call__(self) -> int:
        now = self.ns + (time.monotonic_ns() - self._origin if self.runs else 0)
        self.reads += 1
        self.after(self.reads)
        return now

    def step(self, ms: float) -> None:
        self.ns += int(ms * 1_000_000)

    @property
    def ms(self) -> int:
        return self.ns // 1_000_000

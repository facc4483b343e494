"""HTTP/1.1 with keep-alive, and one deadline for a whole request, from the connection to the last byte."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from typing import Dict, List, NamedTuple, Optional, Set, Tuple
from urllib.parse import SplitResult

_MAX_BYTES = 1_048_576
_MAX_HEAD = 65_536
#: Shorter than the keep-alive of the servers, so that no request uses a connection that the server is closing.
_KEEP_ALIVE_S = 30.0


class Answer(NamedTuple):
    status: int
    headers: Dict[str, str]
    body: bytes


class Connections:
    """The connections to one server. Any thread may call any method."""

    def __init__(self, url: SplitResult, context: Optional[ssl.SSLContext]) -> None:
        self._host = url.hostname or ""
        self._secure = url.scheme == "https"
        self._port = url.port or (443 if self._secure else 80)
        self._netloc = url.netloc
        self._path = url.path.rstrip("/")
        self._context = context
        self._lock = threading.Lock()
        self._idle: List[Tuple[socket.socket, float]] = []
        self._busy: Set[socket.socket] = set()
        self._closed = False

    def request(self, method: str, path: str, headers: Dict[str, str], body: bytes, deadline: float) -> Answer:
        """Raises OSError or ValueError unless the whole response arrives before ``deadline`` (monotonic seconds)."""
        lines = [f"{method} {self._path}{path} HTTP/1.1", f"host: {self._netloc}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if method != "GET":
            lines.append(f"content-length: {len(body)}")
        message = "\r\n".join(lines + ["", ""]).encode("ascii") + body
        sock = self._take(deadline)
        kept = False
        try:
            sock.settimeout(_left(deadline))
            sock.sendall(message)
            answer, kept = _Reader(sock, deadline).read()
            _left(deadline)
            return answer
        finally:
            self._give_back(sock, kept)

    def close(self) -> None:
        """Ends all requests."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            busy = list(self._busy)
        for sock, _ in idle:
            sock.close()
        for sock in busy:
            try:
                socket.socket.shutdown(sock, socket.SHUT_RDWR)
            except OSError:
                pass

    def abandon(self) -> None:
        """In a forked child: closes its copies. The connections belong to the parent, and stay open there."""
        for sock in [sock for sock, _ in self._idle] + list(self._busy):
            sock.close()

    def _take(self, deadline: float) -> socket.socket:
        while True:
            with self._lock:
                if self._closed:
                    raise ConnectionError("the client is closed")
                if not self._idle:
                    break
                sock, since = self._idle.pop()
                self._busy.add(sock)
            if time.monotonic() - since < _KEEP_ALIVE_S and _is_open(sock):
                return sock
            self._give_back(sock, False)
        sock = self._connect(deadline)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._secure:
                if self._context is None:
                    self._context = ssl.create_default_context()
                sock.settimeout(_left(deadline))
                sock = self._context.wrap_socket(sock, server_hostname=self._host)
            with self._lock:
                if self._closed:
                    raise ConnectionError("the client is closed")
                self._busy.add(sock)
        except BaseException:
            sock.close()
            raise
        return sock

    def _connect(self, deadline: float) -> socket.socket:
        """Tries the addresses of the host, each for an equal share of the time that is left."""
        addresses = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        for rest in range(len(addresses), 0, -1):
            family, kind, protocol, _, address = addresses[-rest]
            try:
                sock = socket.socket(family, kind, protocol)
                try:
                    sock.settimeout(_left(deadline) / rest)
                    sock.connect(address)
                    return sock
                except BaseException:
                    sock.close()
                    raise
            except OSError:
                if rest == 1:
                    raise
        raise ConnectionError("the host has no address")

    def _give_back(self, sock: socket.socket, kept: bool) -> None:
        with self._lock:
            self._busy.discard(sock)
            kept = kept and not self._closed
            if kept:
                self._idle.append((sock, time.monotonic()))
        if not kept:
            sock.close()


class _Reader:
    """Reads one response."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock = sock
        self._deadline = deadline
        self._buffer = b""

    def read(self) -> Tuple[Answer, bool]:
        """The response, and whether the connection can be used again."""
        status = 100
        while 100 <= status < 200:
            first, *lines = self._until(b"\r\n\r\n", _MAX_HEAD).decode("latin-1").split("\r\n")
            version, code, *_ = first.split(" ", 2)
            if not version.startswith("HTTP/1."):
                raise ValueError("it is not HTTP/1.1")
            status = int(code)
        headers: Dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers.setdefault(name.strip().lower(), value.strip())
        kept = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
        if status in (204, 304):
            body = b""
        elif "chunked" in headers.get("transfer-encoding", "").lower():
            body = self._chunks()
        elif "content-length" in headers:
            body = self._exactly(int(headers["content-length"]))
        else:
            body, kept = self._rest(), False
        return Answer(status, headers, body), kept and not self._buffer

    def _more(self) -> bool:
        self._sock.settimeout(_left(self._deadline))
        data = self._sock.recv(65_536)
        self._buffer += data
        return data != b""

    def _until(self, end: bytes, limit: int) -> bytes:
        while end not in self._buffer:
            if len(self._buffer) > limit:
                raise ValueError("its headers are too long")
            if not self._more():
                raise ConnectionError("the connection was closed")
        text, _, self._buffer = self._buffer.partition(end)
        return text

    def _exactly(self, count: int) -> bytes:
        if not 0 <= count <= _MAX_BYTES:
            raise ValueError("it is longer than 1 MiB")
        while len(self._buffer) < count:
            if not self._more():
                raise ConnectionError("the connection was closed")
        body, self._buffer = self._buffer[:count], self._buffer[count:]
        return body

    def _chunks(self) -> bytes:
        body = b""
        while True:
            size = int(self._until(b"\r\n", 1024).split(b";")[0], 16)
            if size == 0:
                while self._until(b"\r\n", _MAX_HEAD):
                    pass
                return body
            body += self._exactly(size)
            if self._exactly(2) != b"\r\n" or len(body) > _MAX_BYTES:
                raise ValueError("a chunk is invalid, or it is longer than 1 MiB")

    def _rest(self) -> bytes:
        while self._more():
            if len(self._buffer) > _MAX_BYTES:
                raise ValueError("it is longer than 1 MiB")
        body, self._buffer = self._buffer, b""
        return body


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("no response in time")
    return left


def _is_open(sock: socket.socket) -> bool:
    """Whether an idle connection has neither data nor an end to read; below TLS, too."""
    try:
        sock.settimeout(0)
        socket.socket.recv(sock, 1, socket.MSG_PEEK)
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False

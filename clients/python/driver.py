"""The driver of the conformance kit: obeys test/conformance/README.md. ``--async`` drives AsyncLeafClient."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
from datetime import date
from typing import Any, Callable, Dict, List, Optional

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "src"))

from leaf_ids import AsyncLeafClient, BitLayout, LeafClient, LeafError, SegmentOptions, Server, WindowOptions  # noqa: E402

Command = Dict[str, Any]

#: Answers come from several threads, and a stream may write a long line in parts.
_output = threading.RLock()


class Clock:
    """A wall clock that steps and stands still."""

    def __init__(self) -> None:
        self._offset = 0
        self._frozen_until = self._frozen_at = 0
        self._jump: Optional[List[int]] = None

    def read(self) -> int:
        now = time.time_ns()
        if now < self._frozen_until:
            now = self._frozen_at
        now += self._offset
        if self._jump is not None:
            self._jump[0] -= 1
            if self._jump[0] == 0:
                self._offset += self._jump[1]
                self._jump = None
        return now

    def step(self, ms: float) -> None:
        self._offset += int(ms * 1_000_000)

    def freeze(self, ms: float) -> None:
        self._frozen_at = time.time_ns()
        self._frozen_until = self._frozen_at + int(ms * 1_000_000)

    def jump(self, after_reads: int, ms: float) -> None:
        self._jump = [after_reads, int(ms * 1_000_000)]

    def settle(self) -> None:
        """The command has ended: a step that has not happened does not happen."""
        self._jump = None


def options_of(given: Dict[str, Any], clock: Optional[Clock]) -> Dict[str, Any]:
    names = {"zone": "zone", "token": "token", "timeoutMs": "timeout_ms", "requestTimeoutMs": "request_timeout_ms"}
    names.update(maxWaiting="max_waiting", maxRequests="max_requests")
    options = {name: given[key] for key, name in names.items() if key in given}
    options["servers"] = [s if isinstance(s, str) else Server(s["url"], s.get("zone")) for s in given["servers"]]
    parts = {"minSize": "min_size", "maxSize": "max_size", "durationMs": "duration_ms"}
    options["segment"] = SegmentOptions(**{parts[key]: value for key, value in given.get("segment", {}).items()})
    window = {"windowMs": "window_ms", "holder": "holder", "token": "token"}
    snowflake = given.get("snowflake", {})
    options["window"] = WindowOptions(**{window[key]: value for key, value in snowflake.items() if key in window})
    if "layout" in given:
        bits = given["layout"]
        options["layout"] = BitLayout(bits["timeBits"], bits["workerBits"], bits["sequenceBits"], bits["epoch"])
    if clock is not None:
        options["wall_ns"] = clock.read
    return options


def answer(command: Command, **fields: Any) -> None:
    line = json.dumps({"id": command.get("id"), **fields}) + "\n"
    with _output:
        sys.stdout.write(line)
        sys.stdout.flush()


def refuse(command: Command, error: LeafError, **fields: Any) -> None:
    answer(command, **fields, code=error.code, message=error.message)


def snowflakes(client: Any, clock: Optional[Clock], command: Command) -> None:
    ids: List[str] = []
    if "step" in command and clock is not None:
        clock.jump(command["step"]["afterReads"], command["step"]["ms"])
    try:
        for _ in range(command.get("count", 1)):
            ids.append(str(client.snowflake()))
        answer(command, ids=ids)
    except LeafError as error:
        refuse(command, error, ids=ids)
    finally:
        if clock is not None:
            clock.settle()


class Run:
    """The result of the command ``run``."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.count = 0
        self.limit = command.get("limit", sys.maxsize)
        self.started = time.perf_counter_ns()
        self.until = self.started + int(command["ms"] * 1_000_000)
        self.record = command.get("record", True)
        self.runs: List[List[int]] = []
        self.refused: Dict[str, int] = {}

    @property
    def goes_on(self) -> bool:
        return self.count < self.limit and time.perf_counter_ns() < self.until

    def add(self, ids: List[int]) -> None:
        self.count += len(ids)
        for id in ids if self.record else ():
            if self.runs and self.runs[-1][0] + self.runs[-1][1] == id:
                self.runs[-1][1] += 1
            else:
                self.runs.append([id, 1])

    def fail(self, error: LeafError) -> None:
        self.refused[error.code] = self.refused.get(error.code, 0) + 1

    def end(self) -> None:
        fields: Dict[str, Any] = {"count": self.count, "ns": time.perf_counter_ns() - self.started}
        if self.record:
            fields["runs"] = [[str(first), count] for first, count in self.runs]
        answer(self.command, **fields, refused=self.refused)


def run(take: Callable[[], int], command: Command) -> None:
    result = Run(command)
    while result.goes_on:
        ids: List[int] = []
        try:
            if result.record:
                for _ in range(min(256, result.limit - result.count)):
                    ids.append(take())
            else:
                for _ in range(min(256, result.limit - result.count)):
                    take()
                    result.count += 1
        except LeafError as error:
            result.fail(error)
            time.sleep(0.001)
        result.add(ids)
    result.end()


async def run_async(client: AsyncLeafClient, command: Command) -> None:
    result = Run(command)
    tag, take = command.get("tag", ""), client.next
    while result.goes_on:
        ids: List[int] = []
        try:
            for _ in range(min(256, result.limit - result.count)):
                ids.append(await take(tag))
        except LeafError as error:
            result.fail(error)
            await asyncio.sleep(0.001)
        result.add(ids)
        await asyncio.sleep(0)
    result.end()


def at_once(client: Any, clock: Optional[Clock], command: Command) -> bool:
    """Executes a command that does not wait."""
    op = command["op"]
    if op == "snowflake":
        snowflakes(client, clock, command)
    elif op == "decode":
        parts = client.decode(int(command["value"]))
        answer(command, timestamp=parts.timestamp, workerId=parts.worker_id, sequence=parts.sequence)
    elif op == "step" and clock is not None:
        clock.step(command["ms"])
        answer(command)
    elif op == "freeze" and clock is not None:
        clock.freeze(command["ms"])
        answer(command)
    else:
        return False
    return True


def date_of(command: Command) -> Optional[date]:
    return date.fromisoformat(command["date"]) if "date" in command else None


def execute(client: LeafClient, command: Command) -> None:
    op = command["op"]
    try:
        if op == "next" and "count" in command:
            answer(command, ids=[str(id) for id in client.next_many(command["tag"], command["count"])])
        elif op == "next":
            answer(command, ids=[str(client.next(command["tag"]))])
        elif op == "period":
            number = client.next_in_period(command["tag"], date_of(command))
            answer(command, number=str(number.number), period=number.period)
        elif op == "ready":
            client.ready()
            answer(command)
        elif op == "run":
            tag = command.get("tag", "")
            run(client.snowflake if command["what"] == "snowflake" else lambda: client.next(tag), command)
        else:
            answer(command, code="LEAF_REQUEST_INVALID", message=f"unknown command {op}")
    except LeafError as error:
        refuse(command, error)


async def execute_async(client: AsyncLeafClient, command: Command) -> None:
    op = command["op"]
    try:
        if op == "next" and "count" in command:
            answer(command, ids=[str(id) for id in await client.next_many(command["tag"], command["count"])])
        elif op == "next":
            answer(command, ids=[str(await client.next(command["tag"]))])
        elif op == "period":
            number = await client.next_in_period(command["tag"], date_of(command))
            answer(command, number=str(number.number), period=number.period)
        elif op == "ready":
            await client.ready()
            answer(command)
        elif op == "run" and command["what"] == "snowflake":
            await asyncio.get_running_loop().run_in_executor(None, run, client.snowflake, command)
        elif op == "run":
            await run_async(client, command)
        else:
            answer(command, code="LEAF_REQUEST_INVALID", message=f"unknown command {op}")
    except LeafError as error:
        refuse(command, error)


def safely_at_once(client: Any, clock: Optional[Clock], command: Command) -> bool:
    try:
        return at_once(client, clock, command)
    except LeafError as error:
        refuse(command, error)
        return True


class Terminated(Exception):
    """SIGTERM."""


def main_sync(client: LeafClient, clock: Optional[Clock]) -> None:
    command: Command = {}
    calls: List[threading.Thread] = []
    try:
        for line in sys.stdin:
            command = json.loads(line)
            if command["op"] == "close":
                break
            if not safely_at_once(client, clock, command):
                calls.append(threading.Thread(target=execute, args=(client, command), daemon=True))
                calls[-1].start()
    except Terminated:
        pass
    client.close()
    end = time.monotonic() + 1
    for call in calls:  # those that the client has refused have answers to write
        call.join(max(0, end - time.monotonic()))
    if command.get("op") == "close":
        answer(command)


async def main_async(client: AsyncLeafClient, clock: Optional[Clock]) -> None:
    loop = asyncio.get_running_loop()
    commands: asyncio.Queue[Optional[Command]] = asyncio.Queue()

    def read() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(commands.put_nowait, json.loads(line))
        loop.call_soon_threadsafe(commands.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    loop.add_signal_handler(signal.SIGTERM, commands.put_nowait, None)
    tasks = set()
    while True:
        command = await commands.get()
        if command is None or command["op"] == "close":
            break
        if not safely_at_once(client, clock, command):
            task = asyncio.ensure_future(execute_async(client, command))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
    await client.close()
    if tasks:
        await asyncio.wait(tasks, timeout=1)
    if command is not None:
        answer(command)


def main() -> None:
    arguments = [argument for argument in sys.argv[1:] if argument != "--async"]
    given = json.loads(arguments[0])
    # With LEAF_REAL_CLOCK, to measure: reading the clock of this file costs more than an ID.
    clock = None if os.environ.get("LEAF_REAL_CLOCK") else Clock()
    if "--async" in sys.argv:
        asyncio.run(main_async(AsyncLeafClient(**options_of(given, clock)), clock))
    else:

        def terminate(*_: object) -> None:
            raise Terminated

        signal.signal(signal.SIGTERM, terminate)
        main_sync(LeafClient(**options_of(given, clock)), clock)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()

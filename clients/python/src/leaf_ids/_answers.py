"""Reads the responses of the servers."""

from __future__ import annotations

import json
import re
import time
from email.utils import parsedate_to_datetime
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

from ._errors import LeafError, ServerFault, is_known
from ._http import Answer
from ._layout import BitLayout

_MAX_RETRY_AFTER_MS = 60_000
_MAX_ID = 2**63 - 1
_DECIMAL = re.compile(r"[1-9][0-9]{0,18}")
_PERIOD = re.compile(r"[0-9]{4}(-[0-9]{2}(-[0-9]{2})?|-W[0-9]{2}|-Q[0-9]|/[0-9]{2}-[0-9]{2})?")


class Window(NamedTuple):
    """The right to issue IDs as one worker, from ``start`` to ``until``; Unix milliseconds, as ``now`` of the server."""

    worker_id: int
    start: int
    until: int
    now: int
    layout: BitLayout


def refusal_of(answer: Answer) -> Union[LeafError, ServerFault]:
    """What a response other than a success means: a refusal of Leaf, or a fault of the server or of a proxy."""
    status = answer.status
    retry_after = _retry_after_ms(answer.headers.get("retry-after")) if status in (429, 503) else None
    code, detail = _problem(answer)
    if code is None:
        hint = "; redirects are not followed" if 300 <= status < 400 else ""
        return ServerFault(f"status {status} without an error of a Leaf server{hint}", retry_after)
    if code == "LEAF_INTERNAL":
        return ServerFault(f"status {status} {code}: {detail}")
    if is_known(code):
        return LeafError(code, detail, status=status, retry_after_ms=retry_after)
    unknown = f"The server returned {status} {code}, which this client does not know: {detail}"
    if 400 <= status < 500 and status != 429:
        return LeafError("LEAF_REQUEST_INVALID", unknown, status=status)
    return ServerFault(unknown, retry_after)


def parse(answer: Answer) -> object:
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        raise wrong("it is not JSON") from None


def read_ranges(body: object, tag: str, count: int) -> Tuple[List[range], bool]:
    """The ranges of exactly ``count`` IDs, ascending, and whether the tag is strict. Raises ServerFault."""
    answer = _object(body)
    ranges = answer.get("ranges")
    if answer.get("tag") != tag:
        raise wrong("its ranges belong to another tag")
    if not isinstance(ranges, list):
        raise wrong("it has no ranges")
    read: List[range] = []
    last = total = 0
    for item in ranges:
        entry = _object(item)
        start, end = _id(entry.get("from")), _id(entry.get("to"))
        if start <= last or end < start:
            raise wrong("its ranges do not ascend")
        read.append(range(start, end + 1))
        last = end
        total += end - start + 1
    if total != count:
        raise wrong(f"it has {total} IDs instead of {count}")
    return read, answer.get("order") == "strict"


def read_period(body: object, tag: str, count: int) -> Tuple[str, List[range]]:
    """The period and the ranges. Raises ServerFault."""
    period = _object(body).get("period")
    if not isinstance(period, str) or not _PERIOD.fullmatch(period):
        raise wrong("it has no period")
    return period, read_ranges(body, tag, count)[0]


def read_window(body: object, lease: str) -> Window:
    """Raises ServerFault unless the window is complete and belongs to ``lease``."""
    answer = _object(body)
    if answer.get("lease") != lease:
        raise wrong("its window belongs to another lease")
    bits = _object(answer.get("layout"))
    names = ("timeBits", "workerBits", "sequenceBits", "epoch")
    try:
        layout = BitLayout(*(_whole(bits.get(name)) for name in names))
    except LeafError as error:
        raise wrong(error.message) from None
    worker_id, start, until, now = (_whole(answer.get(name)) for name in ("workerId", "from", "until", "now"))
    window = Window(worker_id, start, until, now, layout)
    if window.worker_id > layout.max_worker_id:
        raise wrong("its worker ID does not fit the layout")
    return window


def wrong(problem: str) -> ServerFault:
    return ServerFault(f"invalid response: {problem}")


def _problem(answer: Answer) -> Tuple[Optional[str], str]:
    if not answer.headers.get("content-type", "").lower().startswith("application/problem+json"):
        return None, ""
    try:
        problem = _object(parse(answer))
    except ServerFault:
        return None, ""
    code, detail = problem.get("code"), problem.get("detail")
    if not isinstance(code, str) or not re.fullmatch(r"LEAF_[A-Z_]{1,60}", code):
        return None, ""
    return code, detail[:1000] if isinstance(detail, str) else ""


def _retry_after_ms(header: Optional[str]) -> Optional[int]:
    if header is None:
        return None
    try:
        if re.fullmatch(r"[0-9]{1,9}", header):
            seconds = float(header)
        else:
            seconds = parsedate_to_datetime(header).timestamp() - time.time()
    except (TypeError, ValueError, OverflowError):
        return None
    return int(min(_MAX_RETRY_AFTER_MS, max(0.0, seconds * 1000)))


def _object(value: object) -> Dict[str, Any]:
    if not isinstance(value, dict):
        raise wrong("it has no JSON object where one is expected")
    return value


def _id(value: object) -> int:
    if isinstance(value, str) and _DECIMAL.fullmatch(value) and int(value) <= _MAX_ID:
        return int(value)
    raise wrong("a range has no decimal ID")


def _whole(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53:
        return value
    raise wrong("its window lacks a number")

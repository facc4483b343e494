"""The bit layout of snowflake IDs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ._errors import LeafError

_MIN_EPOCH = 32_503_680_000
_MAX_SAFE = 2**53 - 1


class SnowflakeParts(NamedTuple):
    """The fields of a snowflake ID; ``timestamp`` in Unix milliseconds."""

    timestamp: int
    worker_id: int
    sequence: int


@dataclass(frozen=True)
class BitLayout:
    """A sign bit that is 0, then time, worker ID and sequence: 63 bits at most. ``epoch`` in Unix milliseconds.

    Raises LeafError ``LEAF_LAYOUT_INVALID``.
    """

    time_bits: int = 41
    worker_bits: int = 10
    sequence_bits: int = 12
    epoch: int = 1_288_834_974_657

    def __post_init__(self) -> None:
        for name, low, high in (("time_bits", 31, 52), ("worker_bits", 1, 22), ("sequence_bits", 1, 22)):
            if not _is_within(getattr(self, name), low, high):
                raise _invalid(f"{name} must be a whole number from {low} to {high}")
        if self.time_bits + self.worker_bits + self.sequence_bits > 63:
            raise _invalid("the bits must add up to at most 63")
        if not _is_within(self.epoch, 0, _MAX_SAFE) or 0 < self.epoch < _MIN_EPOCH or self.max_timestamp > _MAX_SAFE:
            raise _invalid("the epoch must be in Unix milliseconds, 0 or after 1971, and its end below 2^53")

    @property
    def max_timestamp(self) -> int:
        """The last Unix millisecond that fits the time bits."""
        return self.epoch + (1 << self.time_bits) - 1

    @property
    def max_worker_id(self) -> int:
        return (1 << self.worker_bits) - 1

    @property
    def max_sequence(self) -> int:
        return (1 << self.sequence_bits) - 1

    def compose(self, timestamp: int, worker_id: int, sequence: int) -> int:
        """The ID of fields that fit the layout."""
        high = (timestamp - self.epoch) << self.worker_bits | worker_id
        return high << self.sequence_bits | sequence

    def decode(self, id: int) -> SnowflakeParts:
        """Raises LeafError ``LEAF_ID_INVALID``."""
        time = id >> (self.worker_bits + self.sequence_bits)
        if id < 0 or time >> self.time_bits:
            raise LeafError("LEAF_ID_INVALID", f"{id} is not a snowflake ID of the layout {self}.")
        worker_id = id >> self.sequence_bits & self.max_worker_id
        return SnowflakeParts(time + self.epoch, worker_id, id & self.max_sequence)

    def __str__(self) -> str:
        return f"{self.time_bits},{self.worker_bits},{self.sequence_bits}@{self.epoch}"


def _is_within(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _invalid(reason: str) -> LeafError:
    return LeafError("LEAF_LAYOUT_INVALID", f"Invalid bit layout: {reason}.")

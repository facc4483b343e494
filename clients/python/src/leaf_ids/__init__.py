"""Client of Leaf: unique IDs from memory. See README.md."""

from ._client import AsyncLeafClient, LeafClient
from ._core import PeriodNumber
from ._errors import LeafError
from ._layout import BitLayout, SnowflakeParts
from ._options import EjectionOptions, SegmentOptions, Server, WindowOptions

__all__ = [
    "AsyncLeafClient",
    "BitLayout",
    "EjectionOptions",
    "LeafClient",
    "LeafError",
    "PeriodNumber",
    "SegmentOptions",
    "Server",
    "SnowflakeParts",
    "WindowOptions",
]

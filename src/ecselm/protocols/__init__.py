"""The paper's experiments: data, splits and judgement, and every table and figure of it."""

from ecselm.protocols.benchmark import Benched, bench
from ecselm.protocols.budget import FULL, QUICK, Budget
from ecselm.protocols.items import ITEMS, Item, find_item
from ecselm.protocols.protocol import Case, Protocol
from ecselm.protocols.reproduction import Reproduced, check_run, reproduce

__all__ = [
    "FULL",
    "ITEMS",
    "QUICK",
    "Benched",
    "Budget",
    "Case",
    "Item",
    "Protocol",
    "Reproduced",
    "bench",
    "check_run",
    "find_item",
    "reproduce",
]

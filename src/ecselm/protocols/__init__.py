"""The paper's experiments: data, splits and judgement, and every table and figure of it."""

from ecselm.protocols.benchmark import Benched, bench
from ecselm.protocols.benchmark.minority import BenchedMinority, bench_minority
from ecselm.protocols.budget import FULL, QUICK, Budget
from ecselm.protocols.items import ITEMS, Item, find_item
from ecselm.protocols.protocol import Case, Protocol
from ecselm.protocols.reproduction import Reproduced, check_run, reproduce

__all__ = [
    "FULL",
    "ITEMS",
    "QUICK",
    "Benched",
    "BenchedMinority",
    "Budget",
    "Case",
    "Item",
    "Protocol",
    "Reproduced",
    "bench",
    "bench_minority",
    "check_run",
    "find_item",
    "reproduce",
]

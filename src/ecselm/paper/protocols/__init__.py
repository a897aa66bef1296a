"""The paper's experiments: data, splits and judgement, and every table and figure of it."""

from ecselm.paper.bench import Benched, bench
from ecselm.paper.bench.minority import BenchedMinority, bench_minority
from ecselm.paper.protocols.budget import FULL, QUICK, Budget
from ecselm.paper.protocols.items import ITEMS, Item, find_item
from ecselm.paper.protocols.protocol import Case, Protocol
from ecselm.paper.protocols.reproduction import Reproduced, check_run, reproduce

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

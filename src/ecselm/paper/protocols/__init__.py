"""Reproduce every table and figure of the paper: data, splits, methods and evaluation."""

from ecselm.paper.protocols.figures import draw
from ecselm.paper.protocols.items import ITEMS, Item
from ecselm.paper.protocols.protocol import FULL, QUICK, Budget
from ecselm.paper.protocols.published import PUBLISHED
from ecselm.paper.protocols.reproduction import Reproduction, check_run, reproduce

__all__ = [
    "FULL",
    "ITEMS",
    "PUBLISHED",
    "QUICK",
    "Budget",
    "Item",
    "Reproduction",
    "check_run",
    "draw",
    "reproduce",
]

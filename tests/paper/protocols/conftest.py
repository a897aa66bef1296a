"""Small runs on stand-ins, whatever data the machine has."""

from dataclasses import replace

import pytest

from ecselm.paper.protocols import QUICK, Item
from ecselm.paper.protocols.imbalance import GASES
from ecselm.paper.protocols.items import Part, plain


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    monkeypatch.delenv("ECSELM_DATA", raising=False)


@pytest.fixture
def budget():
    return replace(QUICK, most_rows=60)


@pytest.fixture
def item():
    return Item("toy", "A toy", (Part(GASES, plain(["LDA", "ELM", "ECSELM"])),))

"""The memory limit of a search: as stated, or a share of the free memory."""

import pytest

from ecselm import _memory as module
from ecselm._memory import SHARE, UNKNOWN, free_memory, memory_limit

MEMINFO = """MemTotal:       16000000 kB
MemFree:         1000000 kB
MemAvailable:    8000000 kB
Buffers:           20000 kB
"""
AVAILABLE = 8_000_000 * 1024


@pytest.fixture
def system(monkeypatch, tmp_path):
    """Return an empty folder that replaces /proc and the control group."""
    monkeypatch.setattr(module, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(module, "_CGROUP", tmp_path)
    return tmp_path


def write_cgroup(folder, limit, used):
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (1, 1),
        (1e9, 10**9),
        (1.9, 1),
        ("1000", 1000),
        ("1000 B", 1000),
        ("1k", 1 << 10),
        ("2 KiB", 2 << 10),
        ("3mb", 3 << 20),
        ("1.5 GiB", 3 << 29),
        (" 2  gib ", 2 << 30),
        ("1 TB", 1 << 40),
        (".5 MB", 1 << 19),
    ],
)
def test_numbers_and_texts_are_bytes(stated, expected):
    limit = memory_limit(stated)
    assert limit == expected
    assert isinstance(limit, int)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", ".", "lots", "nan", "inf", "GiB", "-1", "-2 GiB", "1e9", "1.2.3", "1 2"),
        *("2 GiBs", "2 PiB", "1,5 GB", "2 GiB GiB"),
    ],
)
def test_texts_that_are_no_number_of_bytes_are_refused_by_name(text):
    with pytest.raises(ValueError, match="memory_limit must be bytes or a text such as") as error:
        memory_limit(text)
    assert repr(text) in str(error.value)


def test_the_default_is_a_share_of_the_free_memory(system):
    (system / "meminfo").write_text(MEMINFO)
    assert memory_limit(None) == int(SHARE * AVAILABLE)


def test_available_memory_counts_and_not_free_memory(system):
    (system / "meminfo").write_text(MEMINFO)
    assert free_memory() == AVAILABLE


@pytest.mark.parametrize(
    ("limit", "used", "expected"),
    [
        (1 << 30, 1 << 28, (1 << 30) - (1 << 28)),
        (1 << 30, 1 << 31, 0),  # a limit may be lowered below the use
        (1 << 50, 0, AVAILABLE),  # more than the machine has
        ("max", 1 << 28, AVAILABLE),
        ("no number", 1 << 28, AVAILABLE),
    ],
)
def test_free_memory_in_a_container_is_that_of_its_control_group(system, limit, used, expected):
    (system / "meminfo").write_text(MEMINFO)
    write_cgroup(system, limit, used)
    assert free_memory() == expected


def test_a_control_group_without_its_use_is_ignored(system):
    (system / "meminfo").write_text(MEMINFO)
    (system / "memory.max").write_text("1000\n")
    assert free_memory() == AVAILABLE


def test_a_control_group_is_enough_without_meminfo(system, monkeypatch):
    monkeypatch.delattr(module.os, "sysconf_names", raising=False)
    write_cgroup(system, 1 << 30, 1 << 20)
    assert free_memory() == (1 << 30) - (1 << 20)


def test_without_meminfo_half_of_the_machine_is_assumed_to_be_free(system, monkeypatch):
    pages = {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(module.os, "sysconf_names", dict.fromkeys(pages, 0), raising=False)
    monkeypatch.setattr(module.os, "sysconf", pages.get, raising=False)
    assert free_memory() == 1000 * 4096 // 2


@pytest.mark.parametrize("text", [None, "MemTotal: 16 kB\n"], ids=["no file", "an old kernel"])
def test_unknown_free_memory_has_a_default(system, monkeypatch, text):
    monkeypatch.delattr(module.os, "sysconf_names", raising=False)
    if text is not None:
        (system / "meminfo").write_text(text)
    assert free_memory() == UNKNOWN


def test_this_machine_has_some_memory():
    assert memory_limit(None) > 0

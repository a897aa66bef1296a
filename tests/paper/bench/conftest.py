import pytest

from ecselm.paper.bench import plan, report, run
from tests.paper.bench.made import cases


def put_in_place(patch):
    """Put tiny data in the place of those of the bench, and few candidates."""
    patch.delenv("ECSELM_DATA", raising=False)
    patch.setattr(run, "bench_cases", cases)
    patch.setattr(run, "keel_cases", cases)
    patch.setattr(run, "FULL_EFFORT", plan.Effort(2, 2))
    patch.setattr(run, "QUICK_SETS", ("glass-*",))
    patch.setattr(run, "QUICK_METHODS", ("balanced logistic regression",))


@pytest.fixture
def made(monkeypatch):
    """Run on tiny data, and draw nothing, which takes longest."""
    put_in_place(monkeypatch)
    monkeypatch.setattr(report, "draw_ranks", lambda *args: None)

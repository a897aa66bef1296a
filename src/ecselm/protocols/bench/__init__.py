"""ECSELM against what people use today, all tuned alike."""

from ecselm.protocols.bench.run import Benched, bench

__all__ = ["Benched", "bench"]

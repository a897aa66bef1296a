"""ECSELM against what people use today, all tuned alike."""

from ecselm.protocols.bench.report import Benched
from ecselm.protocols.bench.run import bench

__all__ = ["Benched", "bench"]

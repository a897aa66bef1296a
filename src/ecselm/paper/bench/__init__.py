"""ECSELM against what people use today, all tuned alike."""

from ecselm.paper.bench.report import Benched
from ecselm.paper.bench.run import bench

__all__ = ["Benched", "bench"]

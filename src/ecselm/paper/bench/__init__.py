"""Compare ECSELM with established methods, all tuned alike."""

from ecselm.paper.bench.cases import HALVES
from ecselm.paper.bench.minority import MinorityResult, bench_minority
from ecselm.paper.bench.report import BenchResult
from ecselm.paper.bench.run import bench, bench_uci

__all__ = ["HALVES", "BenchResult", "MinorityResult", "bench", "bench_minority", "bench_uci"]

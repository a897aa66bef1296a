"""The API reference lists every public place, and nothing else."""

from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[2] / "docs" / "api.rst"
PUBLIC = (
    "ecselm",
    "ecselm.search",
    "ecselm.costs",
    "ecselm.metrics",
    "ecselm.displays",
    "ecselm.elicitation",
    "ecselm.dask",
    "ecselm.streaming",
    "ecselm.saving",
    "ecselm.onnx",
    "ecselm.tables",
    "ecselm.paper.methods",
    "ecselm.paper.baselines",
    "ecselm.paper.elms",
    "ecselm.paper.conformance",
    "ecselm.paper.subspace",
    "ecselm.paper.pairs",
    "ecselm.paper.datasets",
    "ecselm.paper.protocols",
    "ecselm.paper.statistics",
)


@pytest.mark.skipif(not REFERENCE.is_file(), reason="needs the documentation, beside the sources")
def test_reference_lists_every_public_place():
    lines = (line.strip() for line in REFERENCE.read_text().splitlines())
    assert tuple(line for line in lines if line.split(".")[0] == "ecselm") == PUBLIC

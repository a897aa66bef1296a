"""The API reference lists every public place, and nothing else."""

import re
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


@pytest.mark.skipif(not REFERENCE.is_file(), reason="needs the documentation, beside the sources")
def test_the_start_page_links_every_package():
    """Their names are two clicks away."""
    listed = re.findall(r"^   (ecselm[\w.]*)$", REFERENCE.read_text(), re.MULTILINE)
    linked = re.findall(r"\(api/(ecselm[\w.]*)\.rst\)", REFERENCE.with_name("index.md").read_text())
    assert linked == listed

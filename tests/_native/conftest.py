"""Run a test with every library that was built and that this processor can run."""

import pytest

from ecselm._native import calls as library


@pytest.fixture(params=library.VARIANTS)
def built(request, monkeypatch):
    """Make the package use one of its libraries, or skip."""
    opened = library._open(request.param)
    if opened is None:
        pytest.skip(f"{request.param}.so was not built")
    if not library.runs(request.param):
        pytest.skip(f"needs a processor with {request.param}")
    monkeypatch.setattr(library, "_loaded", lambda: (request.param, opened))
    monkeypatch.setattr(library, "_off", [False])
    return request.param

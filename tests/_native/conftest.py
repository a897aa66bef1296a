"""Run a test with every library that was built and that this processor can run."""

import pytest

from ecselm._native import calls as library


@pytest.fixture(params=["plain", "avx2"])
def built(request, monkeypatch):
    """Make the package use one of its libraries, or skip."""
    plain, opened = library._open("plain"), library._open(request.param)
    if opened is None:
        pytest.skip(f"{request.param}.so was not built")
    if request.param == "avx2" and not plain.ecselm_has_avx2():
        pytest.skip("needs a processor with AVX2")
    monkeypatch.setattr(library, "_loaded", lambda: (request.param, opened))
    monkeypatch.setattr(library, "_off", [False])
    return request.param

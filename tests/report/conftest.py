"""Cards that several suites share, made once."""

import pytest

from tests.report import cards

MAKERS = {
    "tumours": cards.tumours,
    "wines": cards.wines,
    "digits": cards.digits,
    "progression": cards.progression,
    "bare": cards.bare,
    "nasty": cards.nasty,
}


@pytest.fixture(scope="session")
def made():
    return {name: make() for name, make in MAKERS.items()}


@pytest.fixture(params=MAKERS)
def card(request, made):
    return made[request.param]

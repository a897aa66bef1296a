"""scikit-learn's own checks: no failures and none expected."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ecselm.paper.subspace import CSLDA, CSLPP, CSMFA, CSPCA, LPP, MFA

VARIANTS = [
    LPP(supervised=True, normalize="orth"),
    CSLPP(variant="B", n_neighbors=1000),  # enough to reach other classes
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@parametrize_with_checks([LPP(), MFA(), CSPCA(), CSLDA(), CSLPP(), CSMFA(), *VARIANTS])
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)

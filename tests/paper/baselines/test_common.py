"""scikit-learn's own checks: no failures and none expected."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from ecselm.paper import baselines
from ecselm.paper.baselines import PLSDA, CSORClassifier, LSSVMClassifier, MCKLRClassifier

NAMES = [name for name in baselines.__all__ if name != "BinaryCostClassifier"]  # wraps another
CUBIC = [name for name in NAMES if "max_samples" in getattr(baselines, name)().get_params()]
EVERY = [getattr(baselines, name)() for name in NAMES]
VARIANTS = [
    LSSVMClassifier(multiclass="ovr"),
    PLSDA(discriminant="lda"),
    MCKLRClassifier(cost_in="training"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@parametrize_with_checks([*EVERY, *VARIANTS])
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


def test_every_method_that_is_cubic_in_the_rows_has_a_limit():
    kernels = {n for n in NAMES if "kernel" in getattr(baselines, n)().get_params()}
    assert set(CUBIC) == kernels | {"CSORClassifier"}


@pytest.mark.parametrize("name", CUBIC)
def test_more_rows_than_allowed_are_refused(name, labelled):
    model = getattr(baselines, name)(max_samples=10)
    with pytest.raises(ValueError, match=r"at most max_samples=10 rows, got 400: .*=None lifts"):
        model.fit(*labelled)
    assert not hasattr(model, "classes_")


def test_levels_have_no_limit_with_a_machine_of_ones_own(labelled):
    CSORClassifier(estimator=LogisticRegression(), max_samples=10).fit(*labelled)

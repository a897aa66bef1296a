"""scikit-learn's own checks: no failures and none expected."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ecselm import baselines
from ecselm.baselines import PLSDA, LSSVMClassifier, MCKLRClassifier

KERNEL_MACHINES = [
    name for name in baselines.__all__ if "kernel" in dir(getattr(baselines, name)())
]
EVERY = [getattr(baselines, name)() for name in baselines.__all__]
VARIANTS = [
    LSSVMClassifier(multiclass="ovr"),
    PLSDA(discriminant="lda"),
    MCKLRClassifier(cost_in="training"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@parametrize_with_checks([*EVERY, *VARIANTS])
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", KERNEL_MACHINES)
def test_more_rows_than_allowed_are_refused(name, labelled):
    model = getattr(baselines, name)(max_samples=10)
    with pytest.raises(ValueError, match=r"at most max_samples=10 rows, got 400: .*=None lifts"):
        model.fit(*labelled)
    assert not hasattr(model, "classes_")

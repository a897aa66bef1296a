"""Many rows and many classes: what is chosen on a sample, and the memory that a fit takes."""

import resource
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from ecselm import ECSELMClassifier, ELMClassifier
from ecselm._memory import refuse_beyond
from ecselm.estimators import _ensemble
from ecselm.estimators._base import class_targets, least_bytes
from ecselm.estimators._calibration import LooScores, fit_calibration
from ecselm.estimators._ensemble import (
    ClassTargets,
    EnsembleRows,
    EnsembleSize,
    EnsembleSpec,
    _quick_hashes,
)
from ecselm.layers import KernelMap

MEASURED = """
import resource, sys, warnings
import numpy as np
from ecselm import ECSELMClassifier
warnings.simplefilter("ignore")
n, k, limit = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
X, y = np.random.default_rng(0).standard_normal((n, 5)), np.arange(n) % k
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
ECSELMClassifier(random_state=0).fit(X[:40], y[:40] % 2)  # imports
before = peak()
ECSELMClassifier(random_state=0, memory_limit=limit).fit(X, y)
print(peak() - before)
"""


def problem(n, rng):
    X = rng.standard_normal((n, 4))
    return X, (X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(n) > 0.5).astype(int)


@pytest.fixture
def few_rows_are_many(monkeypatch):
    monkeypatch.setattr(_ensemble, "SAMPLED_ROWS", 800)


@pytest.mark.usefixtures("few_rows_are_many")
def test_members_are_chosen_on_a_sample_and_solved_on_all_rows(rng, monkeypatch):
    X, y = problem(3000, rng)
    summed, measured = [], []
    add_up, views = EnsembleRows._sum, _ensemble._views

    def counted(self, layer):
        summed.append(len(self))
        return add_up(self, layer)

    def seen(spec, rows, *others):
        measured.append(len(rows))
        return views(spec, rows, *others)

    monkeypatch.setattr(EnsembleRows, "_sum", counted)
    monkeypatch.setattr(_ensemble, "_views", seen)
    model = ECSELMClassifier(60, random_state=0, max_epochs=1).fit(X, y)
    assert set(summed) == {3000}
    assert measured == [801]  # shares of classes are rounded up
    X_test, y_test = problem(2000, rng)
    assert model.score(X_test, y_test) > 0.75


@pytest.mark.usefixtures("few_rows_are_many")
def test_a_model_of_a_sample_does_not_depend_on_the_order_of_rows(rng):
    X, y = problem(2000, rng)
    order = rng.permutation(len(y))
    one, other = (
        ELMClassifier(50, ensemble=5, random_state=0).fit(X[rows], y[rows])
        for rows in (slice(None), order)
    )
    assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-8)


@pytest.mark.usefixtures("few_rows_are_many")
def test_the_sample_has_the_shares_of_the_classes(rng):
    y = np.repeat([0, 1, 2], [9000, 990, 10])
    rows = EnsembleRows(rng.standard_normal((10_000, 2)), ClassTargets(y, 3), np.ones(10_000), y)
    taken = rows.sample(800, _quick_hashes(rows.X), rng)
    assert_array_equal(np.bincount(y[taken]), [720, 80, 2])


def test_quick_hashes_are_those_of_equal_rows_alone(rng):
    X = rng.standard_normal((2000, 3))
    X[1000:] = X[:1000]
    X[0, 0], X[1000, 0] = 0.0, -0.0
    hashes = _quick_hashes(X)
    assert_array_equal(hashes[:1000], hashes[1000:])
    assert_array_equal(hashes, _quick_hashes(X.astype(np.float32)))
    assert len(np.unique(hashes)) == 1000


@pytest.mark.parametrize("k", [2, 3, 100])
def test_class_targets_are_made_as_they_are_taken(k, rng):
    codes = rng.integers(0, k, 300)
    T = ClassTargets(codes, k)
    assert T.shape == class_targets(k)[codes].shape
    assert_array_equal(T[:], class_targets(k)[codes])
    assert_array_equal(T.taken(np.array([5, 2]))[:], class_targets(k)[codes[[5, 2]]])


def test_sums_by_class_are_those_of_the_targets(rng):
    X, codes, B = rng.standard_normal((900, 3)), rng.integers(0, 90, 900), rng.random(900)
    layer, T = KernelMap("rbf", X[:20], 0.3), ClassTargets(codes, 90)
    (one,), (other,) = (EnsembleRows(X, t, B, codes).sums([layer]) for t in (T, T[:]))
    assert_allclose(one.grams, other.grams, rtol=1e-13)
    assert_allclose(one.moments, other.moments, rtol=1e-10, atol=1e-11)
    assert_allclose(one.squares, other.squares, rtol=1e-13)


def test_few_validation_rows_beside_many_classes_leave_every_class_possible(rng):
    k, n = 200, 150  # most classes have no row
    y = np.arange(n) % k
    Z = -np.ones((n, k)) + 0.3 * rng.standard_normal((n, k))
    Z[np.arange(n), y] += 2.0
    cost = np.where(y < 50, 3.0, 1.0)
    P = fit_calibration(LooScores(Z, y, np.ones(n), cost), k)(np.zeros((1, k)))[0]
    assert P.min() > 0.2 / k  # fitted offsets would take classes without a row for impossible
    assert_allclose(P[100] / P[0], 3.0, rtol=1e-10)  # the costs of training are undone


def test_sparse_rows_of_very_many_inputs_have_no_laplacian_layers():
    y = np.arange(60) % 2
    X = sparse.random(60, 2500, 0.01, format="csr", random_state=0)
    rows = EnsembleRows(X, ClassTargets(y, 2), np.ones(60), y)
    kernels = {one.kernel for one in EnsembleSpec.of("auto").for_inputs(rows).layers}
    assert kernels == {"rbf"}
    stated = EnsembleSpec.of([("laplacian", "standard", 1.0)]).for_inputs(rows)
    assert [one.kernel for one in stated.layers] == ["laplacian"]  # there is nothing else
    few = EnsembleRows(X[:, :500], ClassTargets(y, 2), np.ones(60), y)
    assert len({one.kernel for one in EnsembleSpec.of("auto").for_inputs(few).layers}) == 2


def test_sizes_shrink_with_the_memory_for_many_classes():
    sizes = [EnsembleSize.of("auto", 20_000, 1000, 20, memory) for memory in (2**32, 2**29, 2**27)]
    assert sizes[0].n_validation > sizes[1].n_validation > sizes[2].n_validation
    assert sizes[0].n_units >= sizes[1].n_units > sizes[2].n_units


def test_a_fit_beyond_the_memory_is_refused_before_any_work(rng, monkeypatch):
    X, y = rng.standard_normal((6000, 3)), np.arange(6000) % 3000
    needed = least_bytes(6000, 3000, is_ensemble=True)
    monkeypatch.setattr("ecselm.estimators.ecselm.class_targets", None)  # the first work there is
    with pytest.raises(ValueError, match=rf"memory_limit must be at least {needed} bytes"):
        ECSELMClassifier(memory_limit="300 MiB").fit(X, y)
    with pytest.raises(ValueError, match="6000 rows of 3000 classes take, got 1000"):
        refuse_beyond(needed, 1000, "6000 rows of 3000 classes")
    refuse_beyond(1 << 20, 1000, "a few rows of few classes")  # never refused


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read as Linux reports it")
@pytest.mark.parametrize(("n", "k", "mebibytes"), [(4000, 600, 200)])
def test_a_fit_of_many_classes_stays_within_the_memory(n, k, mebibytes):
    command = [sys.executable, "-c", MEASURED, str(n), str(k), str(mebibytes << 20)]
    bound = 8 << 30

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))

    done = subprocess.run(  # noqa: S603  the lines above
        command, capture_output=True, text=True, check=True, preexec_fn=limit
    )
    assert int(done.stdout) < 1.1 * (mebibytes << 20)

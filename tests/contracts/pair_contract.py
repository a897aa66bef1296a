"""What every learner on pairs must do."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

P, FEATURES = 120, 4


def pairs_of(rng, n=P, d=FEATURES, noise=0.4):
    """Return pairs and 0/1 labels: like ones share a vector, unlike ones do not."""
    same = np.arange(n) % 2
    x = rng.standard_normal((n, d))
    z = np.where(same[:, np.newaxis], x, rng.standard_normal((n, d)))
    return np.stack([x, z + noise * rng.standard_normal((n, d))], axis=1), same


class PairContract:
    """Subclass with a method ``make(**parameters)`` that returns a learner."""

    @pytest.fixture
    def data(self, rng):
        return pairs_of(rng)

    @pytest.fixture
    def fitted(self, data):
        return self.make().fit(*data)

    def test_scores_are_symmetric(self, fitted, rng):
        pairs, _ = pairs_of(rng, 30)
        scores = fitted.score_pairs(pairs)
        assert scores.shape == (30,)
        assert_allclose(fitted.score_pairs(pairs[:, ::-1]), scores, rtol=1e-9, atol=1e-12)

    def test_order_of_training_pairs_changes_nothing(self, data, fitted, rng):
        pairs, y = data
        order = rng.permutation(len(y))
        other = self.make().fit(pairs[order], y[order])
        assert_array_equal(other.score_pairs(pairs), fitted.score_pairs(pairs))
        assert other.threshold_ == fitted.threshold_

    def test_order_in_training_pairs_changes_nothing(self, data, fitted, rng):
        pairs, y = data
        turned = np.where(rng.random((len(y), 1, 1)) < 0.5, pairs[:, ::-1], pairs)
        other = self.make().fit(turned, y)
        assert_array_equal(other.score_pairs(pairs), fitted.score_pairs(pairs))

    def test_a_pair_scores_the_same_in_any_company(self, fitted, rng):
        pairs, _ = pairs_of(rng, 20)
        alone = np.concatenate([fitted.score_pairs(pairs[i : i + 1]) for i in range(20)])
        assert_allclose(alone, fitted.score_pairs(pairs), rtol=1e-9, atol=1e-12)

    def test_larger_is_more_similar(self, fitted, rng):
        pairs, y = pairs_of(rng, 400)
        scores = fitted.score_pairs(pairs)
        assert np.median(scores[y == 1]) > np.median(scores[y == 0])
        assert fitted.score(pairs, y) > 0.65
        itself = np.repeat(pairs[:, :1], 2, axis=1)
        assert (fitted.score_pairs(itself) >= np.quantile(scores[y == 0], 0.9) - 1e-9).all()

    def test_threshold_is_the_best_on_training_pairs(self, data, fitted):
        pairs, y = data
        scores = np.sort(fitted.score_pairs(pairs))
        cuts = [scores[0] - 1, *(scores[1:] + scores[:-1]) / 2, scores[-1] + 1]
        right = [((fitted.score_pairs(pairs) > cut) == y).mean() for cut in cuts]
        assert fitted.score(pairs, y) == pytest.approx(max(right))

    def test_threshold_does_not_move_with_pairs_to_predict(self, fitted, rng):
        before = fitted.threshold_
        pairs, _ = pairs_of(rng, 50, noise=3.0)
        answers = fitted.predict(pairs)
        assert fitted.threshold_ == before
        assert_array_equal(answers[:7], fitted.predict(pairs[:7]))
        assert_array_equal(answers, (fitted.score_pairs(pairs) > before).astype(int))

    def test_decisions_are_scores_less_the_threshold(self, data, fitted):
        pairs, _ = data
        expected = fitted.score_pairs(pairs) - fitted.threshold_
        assert_allclose(fitted.decision_function(pairs), expected, rtol=1e-12)

    @pytest.mark.parametrize("labels", [(-1, 1), (False, True), ("different", "same"), (3, 8)])
    def test_any_two_labels_will_do_and_the_greater_is_the_same(self, data, fitted, labels):
        pairs, y = data
        other = self.make().fit(pairs, np.array(labels)[y])
        assert_array_equal(other.score_pairs(pairs), fitted.score_pairs(pairs))
        assert_array_equal(other.predict(pairs), np.array(labels)[fitted.predict(pairs)])

    def test_same_seed_same_result_and_clones_agree(self, data, fitted):
        pairs, _ = data
        twin = clone(fitted)
        assert not hasattr(twin, "threshold_")
        assert twin.get_params() == fitted.get_params()
        assert_array_equal(twin.fit(*data).score_pairs(pairs), fitted.score_pairs(pairs))

    def test_survives_pickling_and_modifies_nothing_given(self, data, fitted):
        pairs, y = data
        kept = pairs.copy(), y.copy()
        again = pickle.loads(pickle.dumps(self.make().fit(pairs, y)))
        assert_array_equal(again.score_pairs(pairs), fitted.score_pairs(pairs))
        assert_array_equal(pairs, kept[0])
        assert_array_equal(y, kept[1])

    def test_takes_part_in_cross_validation(self, data):
        assert cross_val_score(self.make(), *data, cv=3, scoring="roc_auc").mean() > 0.65

    def test_float32_and_lists_are_taken(self, data, fitted):
        pairs, y = data
        single = self.make().fit(pairs.astype(np.float32), y)
        assert np.isfinite(single.score_pairs(pairs[:3].astype(np.float32))).all()
        assert_array_equal(fitted.predict(pairs[:3].tolist()), fitted.predict(pairs[:3]))

    def test_equal_vectors_among_training_pairs_do_no_harm(self, data):
        pairs, y = data
        pairs = np.concatenate([pairs, np.repeat(pairs[:2, :1], 2, axis=1)])
        model = self.make().fit(pairs, np.append(y, [1, 1]))
        assert np.isfinite(model.score_pairs(pairs)).all()

    def test_a_metric_is_a_distance_that_orders_pairs_alike(self, fitted, rng):
        if not hasattr(fitted, "get_metric"):
            pytest.skip("has no metric")
        metric, (pairs, _) = fitted.get_metric(), pairs_of(rng, 12)
        M = metric.matrix
        assert_allclose(M, M.T, rtol=0, atol=0)
        assert np.linalg.eigvalsh(M)[0] >= -1e-9 * np.linalg.norm(M)
        distances = np.array([metric(x, z) for x, z in pairs])
        scores = fitted.score_pairs(pairs)
        assert_allclose(scores[0] - scores, distances**2 - distances[0] ** 2, atol=1e-9)

    @pytest.mark.parametrize(
        ("shape", "message"),
        [
            ((P, FEATURES), "pairs must have the shape"),
            ((P, 3, FEATURES), "pairs must have the shape"),
            ((P, 2, 0), "pairs must have the shape"),
            ((P, 2, 2, 2), "pairs must have the shape"),
        ],
    )
    def test_refuses_what_are_not_pairs(self, data, shape, message):
        with pytest.raises(ValueError, match=message):
            self.make().fit(np.zeros(shape), data[1])

    def test_refuses_what_is_not_finite(self, data, fitted):
        pairs, y = data
        pairs[3, 1, 2] = np.nan
        with pytest.raises(ValueError, match="pairs contains NaN"):
            self.make().fit(pairs, y)
        with pytest.raises(ValueError, match="pairs contains NaN"):
            fitted.predict(pairs)

    def test_refuses_labels_other_than_two(self, data):
        pairs, y = data
        for bad, message in [
            (np.zeros(P, dtype=int), "y must hold two labels.* got 1"),
            (np.arange(P) % 3, "y must hold two labels.* got 3"),
            (y[:-1], "inconsistent numbers of samples"),
            (np.linspace(0, 1, P), "Unknown label type"),
            (np.stack([y, 1 - y], axis=1), "y must hold one label per pair"),
        ]:
            with pytest.raises(ValueError, match=message):
                self.make().fit(pairs, bad)

    def test_refuses_other_features_than_those_of_fit(self, fitted):
        with pytest.raises(ValueError, match="pairs must have the 4 features of fit, got 5"):
            fitted.score_pairs(np.zeros((3, 2, 5)))

    def test_refuses_to_score_before_fit(self, data):
        with pytest.raises(NotFittedError):
            self.make().score_pairs(data[0])

    def test_a_refused_fit_leaves_the_model_as_it_was(self, data, fitted):
        pairs, _ = data
        before = fitted.score_pairs(pairs)
        with pytest.raises(ValueError, match="y must hold two labels"):
            fitted.fit(pairs, np.zeros(P, dtype=int))
        assert_array_equal(fitted.score_pairs(pairs), before)

    def test_refuses_bad_parameters(self, data):
        for name, value in self.bad.items():
            with pytest.raises(ValueError, match=name):
                self.make(**{name: value}).fit(*data)

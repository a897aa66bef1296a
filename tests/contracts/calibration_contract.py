"""What every calibration must do."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal


class CalibrationContract:
    """Subclass with a fixture ``case``: a calibration and its number of classes."""

    @staticmethod
    def scores(n_classes, n_rows=200, scale=2.0):
        rng = np.random.default_rng(5)
        return scale * rng.standard_normal((n_rows, 1 if n_classes == 2 else n_classes))

    def test_probabilities_are_positive_and_sum_to_one(self, case):
        calibration, k = case
        P = calibration(self.scores(k))
        assert P.shape == (200, k)
        assert P.dtype == np.float64
        assert ((P > 0) & (P < 1)).all()
        assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)

    def test_rows_are_independent(self, case):
        calibration, k = case
        Z = self.scores(k)
        assert_allclose(calibration(Z[7:9]), calibration(Z)[7:9], rtol=1e-14)

    def test_a_larger_score_is_never_less_probable(self, case):
        calibration, k = case
        Z = self.scores(k, 1).repeat(50, axis=0)
        Z[:, -1] = np.linspace(-3.0, 3.0, 50)
        assert (np.diff(calibration(Z)[:, -1]) >= -1e-15).all()

    def test_scores_are_not_modified_and_may_be_float32(self, case):
        calibration, k = case
        Z = self.scores(k).astype(np.float32)
        before = Z.copy()
        P = calibration(Z)
        assert P.dtype == np.float64
        assert_array_equal(Z, before)

    def test_any_finite_score_has_a_finite_probability(self, case):
        calibration, k = case
        P = calibration(self.scores(k, scale=1e8))
        assert np.isfinite(P).all()
        assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)

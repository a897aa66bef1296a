"""What everything that scores a generation of candidates must do."""

from dataclasses import fields

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from ecselm.fitness import Candidates


def taken(candidates, positions):
    """Return some of the candidates."""
    values = (getattr(candidates, field.name) for field in fields(candidates)[:-1])
    return Candidates(*(None if value is None else value[positions] for value in values))


class EngineContract:
    """Subclass with a fixture ``case``: an engine, candidates, and their scores, made slowly."""

    def test_scores_are_those_of_every_candidate_solved_alone_and_slowly(self, case):
        engine, candidates, expected = case
        Z = engine.scores(candidates)
        assert Z.shape == expected.shape
        assert_allclose(Z, expected, rtol=1e-6, atol=1e-8)

    def test_a_candidate_does_not_depend_on_its_company(self, case):
        engine, candidates, _ = case
        Z = engine.scores(candidates)
        for i in range(len(candidates)):
            assert_allclose(engine.scores(candidates.one(i)), Z[i : i + 1], rtol=1e-9, atol=1e-10)

    def test_candidates_in_another_sequence_get_scores_in_that_sequence(self, case):
        engine, candidates, _ = case
        order = np.arange(len(candidates))[::-1]
        Z = engine.scores(candidates)
        assert_allclose(engine.scores(taken(candidates, order)), Z[order], rtol=1e-9, atol=1e-10)

    def test_asked_again_it_answers_the_same(self, case):
        engine, candidates, _ = case
        assert_array_equal(engine.scores(candidates), engine.scores(candidates))

    def test_leaves_the_candidates_alone(self, case):
        engine, candidates, _ = case
        everyone = np.arange(len(candidates))
        kept = taken(candidates, everyone)
        engine.scores(candidates)
        for field in fields(candidates):
            now, before = getattr(candidates, field.name), getattr(kept, field.name)
            assert before is None if now is None else np.all(now == before)

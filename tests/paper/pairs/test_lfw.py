"""Pairs of faces: LFW view 2, LBP descriptors."""

import numpy as np
import pytest

from ecselm.paper.pairs import CSML, ITML, KISSME, LDML, LMLML, SILD, DMLEig, SubSML

D = 60  # dimensions and pairs that take seconds
LEARNERS = [
    CSML(D),
    DMLEig(0.3, tol=0.1),
    ITML(0.1),
    KISSME(),
    LDML(max_iter=4),
    LMLML(2, tol=3e-2, random_state=0),
    SILD(D),
    SubSML(),
]


@pytest.fixture(scope="module")
def faces(data_folder):
    """Return training pairs of six folds and test pairs of four, whitened, of length 1."""
    with np.load(data_folder / "lfw_view2_lbp" / "lfw_lbp_pca300.npz") as stored:
        X = stored["X"][:, :D].astype(float) / np.sqrt(stored["eigenvalues"][:D])
        index, same, fold = stored["pairs"], stored["same"], stored["fold"]
    pairs = (X / np.linalg.norm(X, axis=1, keepdims=True))[index]
    train = fold < 6
    return (pairs[train], same[train]), (pairs[~train], same[~train])


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_knows_most_faces_it_has_not_seen(faces, learner):
    train, test = faces
    assert learner.fit(*train).score(*test) > 0.70  # 1/2 is chance

"""All learners keep one contract."""

from ecselm.paper.pairs import CSML, ITML, KISSME, LDML, LMLML, SILD, DMLEig, SubSML
from tests.contracts.pair_contract import PairContract


class TestKISSME(PairContract):
    make = staticmethod(KISSME)
    bad = {"weight": -1, "reg": -1e-3, "clip": "no"}


class TestSILD(PairContract):
    make = staticmethod(SILD)
    bad = {"n_components": 0, "similarity": "dot", "reg": -1}


class TestSILDByDistance(PairContract):
    bad = {}

    @staticmethod
    def make(**parameters):
        return SILD(similarity="euclidean", **parameters)


class TestSubSML(PairContract):
    make = staticmethod(SubSML)
    bad = {"gamma": 0, "beta": -1, "reg": -1, "tol": 0, "max_iter": 0}


class TestITML(PairContract):
    bad = {
        "slack": 0,
        "bounds": (1.0,),
        "prior": [[1.0]],
        "tol": 0,
    }

    @staticmethod
    def make(**parameters):
        return ITML(**{"slack": 0.3, "max_iter": 3000, "tol": 1e-2, **parameters})


class TestDMLEig(PairContract):
    bad = {"smoothing": 0, "reg": -1, "tol": 0}

    @staticmethod
    def make(**parameters):
        return DMLEig(**{"tol": 0.05, "max_iter": 5000, **parameters})


class TestLDML(PairContract):
    make = staticmethod(LDML)
    bad = {"rank": 0, "decay": -1, "class_weight": "some", "max_iter": 0, "tol": -1}


class TestCSML(PairContract):
    make = staticmethod(CSML)
    bad = {"n_components": 0, "beta": -1, "rounds": 0, "max_iter": 0, "tol": 0}


class TestLMLML(PairContract):
    bad = {"n_regions": 10_000, "global_decay": -1, "local_decay": -1, "smoothing": 0}

    @staticmethod
    def make(**parameters):
        return LMLML(**{"n_regions": 2, "random_state": 0, "max_iter": 2000, **parameters})

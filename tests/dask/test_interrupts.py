"""A search on Dask interrupted or killed at any moment: kept, or resumed with the same bits.

This file is also the program whose fits are interrupted and killed.
"""

import os
import signal
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2]))  # as a program

pytest.importorskip("distributed")

import dask.array as da
from distributed import Client, LocalCluster

from ecselm.dask import DaskECSELMClassifier
from ecselm.estimators import _checkpoint
from tests.estimators.test_interrupts import data, is_scored
from tests.processes import KEPT, LOST, Forked, cut_often, fork_each, mark_start

FITTED = ("beta_", "class_costs_", "cost_matrix_", "best_score_", "gain_", "keeps_prior_")


def live(kind, folder, name):
    """Fit in this process, on a cluster of its own; the exit code says how it ended."""
    X, y = data(200)
    checkpoint = None if name == "whole" else Path(folder, f"{name.split()[0]}.npz")
    options = {"activation": "radbas"} if kind == "one layer" else {}
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        model = DaskECSELMClassifier(
            8, population_size=4, max_epochs=6, random_state=0, client=client,
            checkpoint=checkpoint, **options,
        )  # fmt: skip
        rows = da.from_array(X, chunks=(70, 4)), da.from_array(y, chunks=70)
        try:
            mark_start(folder, name)
            model.fit(*rows)
        except KeyboardInterrupt:
            os._exit(LOST)  # as the cluster may be in any state
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        found = {key: np.asarray(getattr(model, key)) for key in FITTED}
        np.savez(Path(folder, f"{name}.result.npz"), P=model.to_local().predict_proba(X), **found)
    said = [str(one.message) for one in caught if "interrupted" in str(one.message)]
    os._exit(KEPT if said and "nothing is missing" not in said[0] else 0)


def fork_fits(kind, folder):
    _checkpoint.SHARE = np.inf  # every step is saved
    fork_each(partial(live, kind, folder))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes to kill")
@pytest.mark.parametrize("kind", ["ensemble", "one layer"])
def test_fits_interrupted_or_killed_at_random_moments(kind, tmp_path, moments, record_property):
    def check(name, end):
        path = tmp_path / f"{name.split()[0]}.npz"
        if end == "lost":
            assert not path.exists() or not is_scored(path)
        if end == "whole":
            with (
                np.load(tmp_path / f"{name}.result.npz") as one,
                np.load(tmp_path / "whole.result.npz") as other,
            ):
                for key in one:
                    np.testing.assert_array_equal(one[key], other[key], err_msg=key)

    with Forked(__file__, kind, tmp_path) as forked:
        ends = cut_often(forked, np.random.default_rng(4), moments, check)
    for end, n in sorted(ends.items()):
        record_property(end, n)
    assert ends["resumed"] == moments


if __name__ == "__main__":
    fork_fits(*sys.argv[1:])

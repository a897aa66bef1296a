"""Every estimator learns what it has learned when the record was written.

On the machine that the record was written on, all numbers are compared bit for bit: moving code
must not change them, and a change that is meant to is recorded again with
``python -m tests.golden.record``. A machine is the same if :func:`tests.golden.results.machine`
is: the processor, libc, Python, NumPy, SciPy with their BLAS, and scikit-learn.

On another machine rounding differs. Solutions are compared by root mean square, mean and a
random projection of every array, with a tolerance of 1e-6 of the root mean square, or 1e-2 for
float32 and for a singular system. Searches cannot be compared like that: rounding turns
comparisons between candidates that are equally good, and all that follows is another search.
There shapes and texts must agree, the scores of the priors to 1e-4, for nothing is chosen before
them, the best score to a twentieth, and that on test rows to 0.1 or a tenth.

The C library is taken to be compiled alike on machines that are the same; another compiler may
need a record of its own.
"""

import json
from importlib.util import find_spec

import numpy as np
import pytest

from tests.golden.configurations import CONFIGURATIONS
from tests.golden.results import (
    PATHS,
    RECORD,
    cases,
    differences,
    entry,
    machine,
    path,
    run,
    summary,
)

QUICK = [(name, made.quick) for name, made in CONFIGURATIONS.items()]
OTHERS = [case for case in cases() if case not in QUICK]


@pytest.fixture(scope="module")
def record():
    return json.loads(RECORD.read_text())


def check(record, name, data_set):
    made = CONFIGURATIONS[name]
    missing = [package for package in made.needs if find_spec(package) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    old = record[path()]
    now = entry(*run(name, data_set))
    same_machine = old["machine"] == machine()
    recorded = old["cases"][f"{name} on {data_set}"]
    assert not differences(now, recorded, made, same_machine=same_machine)


@pytest.mark.parametrize(("name", "data_set"), QUICK)
def test_results_are_those_of_the_record(record, name, data_set):
    check(record, name, data_set)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "data_set"), OTHERS)
def test_results_on_other_data_are_those_of_the_record(record, name, data_set):
    check(record, name, data_set)


@pytest.mark.parametrize("way", PATHS)
def test_record_holds_every_configuration_on_all_its_data(record, way):
    assert set(record[way]["cases"]) == {f"{name} on {data_set}" for name, data_set in cases()}


def test_quick_cases_reach_every_data_set():
    assert {data_set for _, data_set in QUICK} == {data_set for _, data_set in cases()}


SOLVED, SEARCHED = CONFIGURATIONS["elm"], CONFIGURATIONS["ecselm_gmean"]
TEXTS = {"solver_": "primal-cholesky"}


@pytest.fixture
def numbers(rng):
    return {
        "beta_": rng.standard_normal((20, 3)),
        "prior_scores_": np.array([0.8, 0.9]),
        "test score": np.asarray(0.9),
    }


def found(changed, numbers, made, same_machine):
    now, recorded = entry({**numbers, **changed}, TEXTS), entry(numbers, TEXTS)
    return list(differences(now, recorded, made, same_machine=same_machine))


@pytest.mark.parametrize("made", [SOLVED, SEARCHED])
@pytest.mark.parametrize("same_machine", [False, True])
def test_equal_numbers_do_not_differ(numbers, same_machine, made):
    assert not found({}, numbers, made, same_machine)


@pytest.mark.parametrize("made", [SOLVED, SEARCHED])
def test_the_last_bit_of_one_number_differs_on_the_same_machine(numbers, made):
    beta = numbers["beta_"].copy()
    beta[7, 1] = np.nextafter(beta[7, 1], 2.0)
    assert found({"beta_": beta}, numbers, made, same_machine=True) == ["beta_"]


@pytest.mark.parametrize(("share", "differ"), [(1e-8, []), (1e-4, ["beta_"])])
def test_solutions_on_another_machine_differ_beyond_the_tolerance(numbers, rng, share, differ):
    beta = numbers["beta_"] * (1.0 + share * rng.standard_normal((20, 3)))
    assert found({"beta_": beta}, numbers, SOLVED, same_machine=False) == differ


@pytest.mark.parametrize(
    ("name", "change", "differ"),
    [
        ("test score", -0.05, False),
        ("test score", -0.15, True),
        ("prior_scores_", 1e-6, False),
        ("prior_scores_", 1e-3, True),
    ],
)
def test_searches_on_another_machine_differ_by_their_scores(numbers, name, change, differ):
    told = found({name: numbers[name] + change}, numbers, SEARCHED, same_machine=False)
    assert told == ([name] if differ else [])


@pytest.mark.parametrize("made", [SOLVED, SEARCHED])
@pytest.mark.parametrize("same_machine", [False, True])
def test_shapes_names_and_texts_count_everywhere(numbers, same_machine, made):
    def differ(now):
        return list(differences(now, old, made, same_machine=same_machine))

    old = entry(numbers, TEXTS)
    assert differ({**old, "beta_": summary(numbers["beta_"].T)}) == ["beta_"]
    assert differ({**old, "solver_": "dual-cholesky"}) == ["solver_"]
    assert differ({**old, "C_": summary(np.asarray(1.0))}) == ["C_"]
    assert differ({k: v for k, v in old.items() if k != "beta_"}) == ["beta_"]

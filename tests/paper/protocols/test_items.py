import pytest

from ecselm.paper.methods import find_method, list_methods
from ecselm.paper.protocols import ITEMS, QUICK
from ecselm.paper.protocols.items import (
    AS_PRINTED,
    ENSEMBLE,
    FACE_FORMS,
    FORMS,
    ONE_LAYER,
    find_item,
)
from ecselm.paper.protocols.reproduction import plan_item

PRINTED = [item for item in ITEMS.values() if item.name not in {"keel", "credit", "access"}]
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")


def test_every_table_and_every_figure_with_results_is_there():
    tables = [f"table-{n}" for n in range(1, 15)]
    figures = [f"figure-{n}" for n in (3, 4, 5, 6, 8, 9, 10, 11, 12)]
    assert list(ITEMS) == [*tables, *figures, "keel", "credit", "access"]


@pytest.mark.parametrize("item", ITEMS.values(), ids=list(ITEMS))
def test_every_method_is_in_the_registry_under_that_very_name(item):
    for part in item.parts:
        for setting in part.settings:
            assert find_method(setting.method, part.protocol.task).name == setting.method


@pytest.mark.parametrize("number", range(1, 12))
def test_columns_are_those_that_the_registry_says_the_table_has(number):
    planned = {
        setting.method
        for part in ITEMS[f"table-{number}"].parts
        for setting in part.settings
        if "ECSELM" not in setting.method
    }
    task = "pairs" if number in {8, 9} else ITEMS[f"table-{number}"].parts[0].protocol.task
    recorded = {
        method.name
        for method in list_methods(task)
        if ROMAN[number - 1] in method.tables and "ECSELM" not in method.name
    }
    assert planned == recorded - {"five similarities"}


@pytest.mark.parametrize("item", PRINTED, ids=lambda item: item.name)
def test_every_case_of_an_item_exists(item):
    for part in item.parts:
        names = {case.name for case in part.protocol.cases()}
        assert part.best_only or set(part.cases or ()) <= names
        assert names & set(part.cases or names)
        assert names


@pytest.mark.parametrize("form", FORMS)
def test_tables_that_share_a_method_share_its_jobs(form):
    keys = [
        {job.key for job in plan_item(find_item(name), QUICK, 0) if job.setting.name == form}
        for name in ("table-1", "table-2", "table-3")
    ]
    assert keys[0] == keys[1] > keys[2]


def test_sensitivity_is_to_one_parameter_at_a_time():
    for name, varied in (("figure-11", "C"), ("figure-12", "n_hidden")):
        for part in find_item(name).parts:
            fixed = [dict(one.fixed) for one in part.settings if one.method == "ELM"]
            values = {key: {one[key] for one in fixed} for key in ("C", "n_hidden")}
            assert {key: len(found) for key, found in values.items()} == {
                "C": 5 if varied == "C" else 1,
                "n_hidden": 1 if varied == "C" else 5,
            }


def test_unknown_item_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"item must be one of table-1, .*, got 'table-15'"):
        find_item("table-15")


def test_summary_has_one_line_for_lfw():
    labels = dict.fromkeys(job.info.label for job in plan_item(find_item("table-12"), QUICK, 0))
    assert len(labels) == 6


def test_forms_of_ecselm_are_in_every_table_and_figure_of_the_paper():
    for item in PRINTED:
        for part in item.parts:
            names = list(dict.fromkeys(setting.name for setting in part.settings))
            if part.protocol.task == "pairs":
                continue  # the metric learners of table IX; the forms are in its other part
            assert AS_PRINTED in names
            assert ONE_LAYER in names
            assert (ENSEMBLE in names) == (
                part.protocol.task == "classification"
                and item.name not in {"figure-11", "figure-12"}
            )
            assert [one for one in names if one in FORMS] == [one for one in FORMS if one in names]


def test_c_and_l_as_printed_are_those_of_sections_iv_and_viii():
    penalties, units = tuple(2.0**p for p in (0, 5, 10, 20, 30)), (100, 200, 300, 400, 500)
    begin = {"table-8": (2.0**10, 100), "table-10": (2.0**20, 200), "table-4": (2.0**5, 100)}
    for name, (C, L) in begin.items():
        setting = next(one for one in find_item(name).parts[0].settings if one.name == AS_PRINTED)
        assert setting.grid == (("C", penalties), ("n_hidden", units))
        assert (dict(setting.params)["C"], dict(setting.params)["n_hidden"]) == (C, L)
    assert dict(FACE_FORMS[0].params) == {"C": 2.0**5, "kernel": "rbf"}
    assert FACE_FORMS[0].grid == (("C", penalties),)


@pytest.mark.parametrize("name", ["table-6", "table-7", "table-12", "figure-6"])
def test_the_form_as_printed_is_a_kernel_on_faces(name):
    part = next(part for part in find_item(name).parts if part.protocol.name == "faces")
    job = next(
        job
        for job in plan_item(find_item(name), QUICK, 0)
        if job.setting.name == AS_PRINTED and job.protocol is part.protocol
    )
    data = job.case.load()
    model = job._model(data.X[:20], data.y[:20], data)[-1]
    assert (model.kernel, model.C, model.cost_level) == ("rbf", 32.0, "sample")
    assert (model.cost_bounds, model.fitness, model.scoring) == ((-1.0, 1.0), "train", "accuracy")


@pytest.mark.parametrize("name", ["figure-11", "figure-12"])
def test_sensitivity_is_that_of_one_layer_for_every_method(name):
    jobs, loaded = plan_item(find_item(name), QUICK, 0), {}
    for job in jobs:
        if job.case.name not in loaded:
            loaded[job.case.name] = job.case.load()
        data = loaded[job.case.name]
        model = job._model(data.X[:12], data.y[:12], data)[-1]
        fixed = dict(job.setting.fixed)
        assert {key: getattr(model, key) for key in fixed} == fixed
        assert getattr(model, "ensemble", None) is None
        assert set(fixed) == ({"C"} if job.setting.method == "KELM" else {"C", "n_hidden"})

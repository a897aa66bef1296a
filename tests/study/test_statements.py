"""Cost constraints: parsed, passed on, described, and refused."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ecselm import ECSELMClassifier
from ecselm.costs.sentences import Mistake, MistakeReader, read_sentence
from ecselm.study import read_stated_costs

TWO = ["malignant", "benign"]
THREE = ["flu", "pox", "well"]


def read(cost=(), worse=(), between=(), classes=TWO):
    return read_stated_costs(cost, worse, between, classes)


def test_nothing_said_is_nothing_known():
    said = read()
    assert said.parameters == {}
    assert said.metric == "balanced_accuracy"
    assert said.sentences == ()


def test_all_costs_stated_are_the_cost_and_its_mean_the_metric():
    said = read(["malignant->benign=5", "benign->malignant=1"])
    assert said.parameters == {"cost": [[0.0, 1.0], [5.0, 0.0]]}
    assert said.metric == "mean_cost"
    assert said.sentences == (
        "a malignant case taken for benign costs 5",
        "a benign case taken for malignant costs 1",
    )


def test_of_two_classes_a_pair_is_a_class():
    said = read(
        ["benign->malignant=1"], ["malignant->benign > benign->malignant"], ["malignant=2..20"]
    )
    assert said.parameters == {
        "fixed_costs": {"benign": 1.0},
        "cost_intervals": {"malignant": (2.0, 20.0)},
        "cost_order": [("malignant", "benign")],
    }
    assert said.metric == "balanced_accuracy"
    assert said.sentences == (
        "a benign case taken for malignant costs 1",
        "a malignant case taken for benign is worse than a benign case taken for malignant",
        "any mistake on a malignant case costs between 2 and 20",
    )


def test_single_confusions_of_three_classes_need_costs_by_confusion():
    said = read(["pox->well=9"], ["pox->flu > flu->pox > well->flu"], ["flu->well=2.."], THREE)
    assert said.parameters == {
        "fixed_costs": {("pox", "well"): 9.0, ("well", "pox"): 1.0},
        "cost_intervals": {("flu", "well"): (2.0, np.inf)},
        "cost_order": [(("pox", "flu"), ("flu", "pox")), (("flu", "pox"), ("well", "flu"))],
        "cost_level": "matrix",
    }


@pytest.mark.parametrize(
    "cost", [["pox=9"], ["pox->well=9", "pox->flu=9"], ["pox=9", "pox->flu=9"]]
)
def test_equal_costs_of_all_mistakes_on_a_class_are_said_by_class(cost):
    said = read(cost, ["flu > well"], ["flu=..7"], THREE)
    assert said.parameters == {
        "fixed_costs": {"pox": 9.0},
        "cost_intervals": {"flu": (0.0, 7.0)},
        "cost_order": [("flu", "well")],
    }


def test_a_class_among_confusions_stands_for_all_mistakes_on_it():
    said = read(worse=["pox > flu->well"], classes=THREE)
    assert said.cost_order == [("pox", ("flu", "well"))]
    assert said.cost_level == "matrix"


def test_the_sentences_are_the_words_of_the_statements():
    cost, between = ["well->flu=1", "well->pox=1", "pox->well=2.5"], ["flu->well=2..3", "pox=..9"]
    worse = ["pox->flu > flu->pox > well"]
    statements = [one for text in cost + worse + between for one in read_sentence(text, THREE)]
    said = read(cost, worse, between, THREE)
    assert said.sentences == tuple(one.words(THREE) for one in statements)


def test_a_statement_within_another_narrows_it():
    both = read(["malignant=5"], between=["malignant=2..20"])
    assert both.cost == [[0.0, 1.0], [5.0, 0.0]]
    both = read(between=["malignant=2..20", "malignant->benign=..8"])
    assert both.cost_intervals == {"malignant": (2.0, 8.0)}


@pytest.mark.parametrize(
    ("classes", "text", "pair"),
    [
        ([0, 1], "1->0=5", (1, 0)),
        ([0, 1], "1.0 -> 0=5", (1, 0)),
        ([0.5, 1.5], "1.5→0.5=5", (1.5, 0.5)),
        (["very ill", "well"], "very ill->well=5", ("very ill", "well")),
        (["very ill", "well"], '"very ill" -> well = 5', ("very ill", "well")),
        (["a->b", "c"], "a->b->c=5", ("a->b", "c")),
        (["x=1", "x=2"], "x=1->x=2=5", ("x=1", "x=2")),
        (["Crohn's", "Bär"], "Crohn's->Ba\u0308r=5", ("Crohn's", "Bär")),
        (["a", "b", "a->b"], '"a->b"->"a"=5', ("a->b", "a")),
        (["0", "1"], "1->0=5", ("1", "0")),
    ],
)
def test_names_may_hold_almost_anything(classes, text, pair):
    labels = sorted(classes)
    reader = MistakeReader(labels)
    mistake = reader.mistake(text.rpartition("=")[0], "--cost")
    assert (labels[mistake.truth], labels[mistake.predicted]) == pair
    assert read([text], classes=classes).cost[mistake.truth][mistake.predicted] == 5.0


def test_names_with_a_greater_sign_are_distinguished_from_the_order():
    labels = ["age>50", "age<50"]
    reader = MistakeReader(labels)
    chain = [Mistake(0, 1), Mistake(1, 0)]
    assert reader.chain("age>50->age<50 > age<50->age>50", "--worse") == chain
    assert reader.chain('"age>50">"age<50"', "--worse") == [Mistake(0), Mistake(1)]


NAMES = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=6).map(
    str.strip
)


@given(st.lists(NAMES, min_size=2, max_size=4, unique=True), st.data())
@settings(max_examples=50, deadline=None)
def test_a_mistake_in_quotes_comes_back_whatever_the_names(names, data):
    assume(all(name and '"' not in name for name in names))
    reader = MistakeReader(names)
    assume(all(reader.code(f'"{name}"', "--cost") == i for i, name in enumerate(names)))
    truth, predicted = data.draw(st.permutations(range(len(names))))[:2]
    text = f'"{names[truth]}"->"{names[predicted]}"'
    assert reader.mistake(text, "--cost") == Mistake(truth, predicted)
    back = f'"{names[predicted]}"->"{names[truth]}"'
    assert reader.chain(f"{text} > {back}", "--worse")[1] == Mistake(predicted, truth)


@given(
    st.dictionaries(
        st.sampled_from([(i, j) for i in range(3) for j in range(3) if i != j]),
        st.floats(0.01, 1000),
        min_size=1,
    )
)
@settings(max_examples=25, deadline=None)
def test_what_is_passed_on_is_what_was_said(costs):
    said = read(
        [f"{THREE[i]}->{THREE[j]}={cost!r}" for (i, j), cost in costs.items()], classes=THREE
    )
    stated = 1.0 - np.eye(3)
    for place, cost in costs.items():
        stated[place] = cost
    assert np.array_equal(said.cost, stated)


def test_a_number_is_a_multiple_of_what_is_not_mentioned():
    alone = read(["malignant->benign=5"])
    assert alone.cost == [[0.0, 1.0], [5.0, 0.0]]
    assert alone.metric == "mean_cost"
    assert alone.sentences[-1] == "every other mistake costs 1"
    between = read(between=["malignant->benign=2..20"])
    assert between.parameters == {
        "fixed_costs": {"benign": 1.0},
        "cost_intervals": {"malignant": (2.0, 20.0)},
    }
    mentioned = read(["pox=9"], ["flu > well"], classes=THREE)
    assert mentioned.parameters == {"fixed_costs": {"pox": 9.0}, "cost_order": [("flu", "well")]}
    assert "every other mistake costs 1" not in mentioned.sentences


def test_a_table_of_costs_may_have_its_rows_in_any_order(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("true;pox;well;flu\nwell;1;0;1,5\nflu;2;3;\npox;0;10;4\n")
    said = read([str(path)], classes=THREE)
    assert said.cost == [[0.0, 2.0, 3.0], [4.0, 0.0, 10.0], [1.5, 1.0, 0.0]]
    assert len(said.sentences) == 6
    assert "a pox case taken for well costs 10" in said.sentences


def test_cells_left_empty_are_learned(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text(",0,1\n0,,\n1,5,0\n")
    said = read([str(path)], classes=np.array([0, 1, 1, 0]))
    assert said.parameters == {"fixed_costs": {1: 5.0}}
    assert said.sentences == ("a case of class 1 taken for class 0 costs 5",)


def test_a_large_table_is_described_in_one_sentence(tmp_path):
    labels = [f"c{i}" for i in range(5)]
    rows = [
        ",".join(["", *labels]),
        *(f"{a}," + ",".join("0" if a == b else "2" for b in labels) for a in labels),
    ]
    (tmp_path / "costs.csv").write_text("\n".join(rows))
    said = read([str(tmp_path / "costs.csv")], classes=labels)
    assert said.sentences == ("costs.csv states what 20 confusions cost",)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (",malignant,benign\nmalignant,1,5\nbenign,1,0\n", "0 or nothing on the diagonal.* got 1"),
        (",malignant,benign\nmalignant,0,-5\nbenign,1,0\n", "must hold costs >= 0"),
        (",malignant,benign\nmalignant,0,dear\nbenign,1,0\n", "must hold costs >= 0"),
        (",malignant,benign\nmalignant,0,5\n", "every class once as a row and once as a column"),
        (",malign,benign\nmalignant,0,5\nbenign,1,0\n", "got 'malign'; did you mean 'malignant'"),
        (",malignant,benign\nmalignant,0,0\nbenign,0,0\n", "at least one mistake"),
    ],
    ids=["diagonal", "negative", "word", "rows", "name", "zeros"],
)
def test_a_table_that_states_no_costs_is_refused(tmp_path, table, sentence):
    (tmp_path / "costs.csv").write_text(table)
    with pytest.raises(ValueError, match=sentence):
        read([str(tmp_path / "costs.csv")])


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"cost": ["malgnant->benign=5"]}, "--cost must name classes.* did you mean 'malignant'"),
        ({"cost": ["malignant->benign=-5"]}, "--cost must read TRUE->PREDICTED=COST"),
        ({"cost": ["malignant->benign=inf"]}, "--cost must read TRUE->PREDICTED=COST"),
        ({"cost": ["malignant->benign"]}, "--cost must read TRUE->PREDICTED=COST"),
        ({"cost": ["malignant->malignant=1"]}, "--cost must name mistakes, got .* which is right"),
        (
            {"cost": ["malignant->benign=0"], "between": ["benign=2..3"]},
            "--cost must state costs > 0 unless",
        ),
        ({"worse": ["malignant->benign"]}, "--worse must put one mistake above another"),
        ({"worse": ["malignant > bening"]}, "got 'bening'; did you mean 'benign'"),
        ({"worse": ["malignant > malignant->benign"]}, "must not put a cost above itself"),
        ({"worse": ["malignant > benign > malignant"]}, "must not contradict each other"),
        ({"between": ["malignant=20..2"]}, "--cost-between must read"),
        ({"between": ["malignant=.."]}, "--cost-between must read"),
        ({"between": ["malignant=2-20"]}, "--cost-between must read"),
        ({"between": ["2..20"]}, "--cost-between must read"),
        ({"cost": ["malignant=5", "malignant->benign=6"]}, "leaves no cost for 'malignant' taken"),
        ({"cost": ["malignant=5"], "between": ["malignant=6.."]}, "'malignant=6..' leaves no cost"),
        (
            {"cost": ["malignant=1", "benign=5"], "worse": ["malignant > benign"]},
            "costs at most 1 and is to be worse than 'benign' taken for 'malignant'",
        ),
        (
            {
                "cost": ["malignant=5"],
                "between": ["benign=4.99.."],
                "worse": ["malignant > benign"],
            },
            "to be at least 5.0399 and at most 5",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(said, sentence):
    with pytest.raises(ValueError, match=sentence):
        read(**said)


def test_what_can_be_read_in_two_ways_asks_for_quotes():
    with pytest.raises(ValueError, match=r"must be read in one way, .* put quotes around"):
        read(["a->b=5"], classes=["a", "b", "a->b"])
    assert read(['"a->b"=5'], classes=["a", "b", "a->b"]).cost[1] == [5.0, 0.0, 5.0]


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"costs.csv is not there"):
        read([str(tmp_path / "costs.csv")])
    with pytest.raises(ValueError, match="classes must be at least two"):
        read(classes=["a"])


@pytest.mark.parametrize(
    "said", [{"cost": ["2->1=8"], "between": ["1->2=2..3"]}, {"worse": ["2->1 > 1->2 > 0->1"]}]
)
def test_the_parameters_are_those_of_the_classifier(said):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 4)) + y[:, np.newaxis]
    stated = read(**said, classes=y)
    model = ECSELMClassifier(20, population_size=5, max_epochs=1, random_state=0)
    model.set_params(**stated.parameters).fit(X, y)
    costs = model.cost_matrix_
    if stated.fixed_costs:
        assert costs[2, 1] == 8
    else:
        assert costs[2, 1] > costs[1, 2] > costs[0, 1]

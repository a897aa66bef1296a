"""Cost constraints: parsed, passed on, described, and refused."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ecselm.costs import CostConstraints
from ecselm.costs.sentences import Mistake, MistakeReader, read_sentence
from ecselm.study import read_stated_costs

TWO = ["malignant", "benign"]
THREE = ["flu", "pox", "well"]


def read(cost=(), worse=(), between=(), classes=TWO):
    return read_stated_costs(cost, worse, between, classes)


def test_nothing_said_is_nothing_known():
    assert read() is None


def test_all_costs_stated_are_a_matrix():
    said = read(["malignant->benign=5", "benign->malignant=1"])
    assert said.is_exact
    assert said.mean().tolist() == [[0.0, 1.0], [5.0, 0.0]]
    assert said.sentences() == (
        "a malignant case taken for benign costs 5",
        "a benign case taken for malignant costs 1",
    )


def test_numbers_order_and_intervals_are_one_object():
    said = read(
        ["benign->malignant=1"], ["malignant->benign > benign->malignant"], ["malignant=0.5..20"]
    )
    assert (said.low[1, 0], said.high[1, 0]) == (1.0, 20.0)
    assert said.sentences() == (
        "a benign case taken for malignant costs 1",
        "a malignant case taken for benign is worse than a benign case taken for malignant",
        "any mistake on a malignant case costs between 0.5 and 20",
    )


@pytest.mark.parametrize(
    "text", ["malignant->benign = 3..20 * benign->malignant", "malignant->benign = 3..20"]
)
def test_cost_takes_every_sentence(text):
    said, classes = read([text]), sorted(TWO)
    assert said == CostConstraints.from_sentences([text], classes=classes)
    assert (said.low[1, 0], said.high[1, 0]) == (3.0, 20.0)


def test_single_confusions_of_three_classes_have_costs_of_their_own():
    said = read(["pox->well=9"], ["pox->flu > flu->pox > well->flu"], ["flu->well=2.."], THREE)
    assert said.low[1, 2] == said.high[1, 2] == 9
    assert said.low[0, 2] == 2
    assert said.high[0, 2] > 100
    assert said.contains([[0, 3, 4], [5, 0, 9], [1, 1, 0]])
    assert not said.contains([[0, 5, 4], [3, 0, 9], [1, 1, 0]])


def test_the_sentences_are_the_words_of_the_statements():
    cost, between = ["well->flu=1", "well->pox=1", "pox->well=2.5"], ["flu->well=2..3", "pox=..9"]
    worse = ["pox->flu > flu->pox > well"]
    statements = [one for text in cost + worse + between for one in read_sentence(text, THREE)]
    said = read(cost, worse, between, THREE)
    assert said.sentences()[: len(statements)] == tuple(one.words(THREE) for one in statements)


def test_a_statement_within_another_narrows_it():
    both = read(["malignant=5"], between=["malignant=2..20"])
    assert both.mean().tolist() == [[0.0, 1.0], [5.0, 0.0]]
    both = read(between=["malignant=2..20", "malignant->benign=..8"])
    assert (both.low[1, 0], both.high[1, 0]) == (2.0, 8.0)


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
    assert read([text], classes=classes).mean()[mistake.truth, mistake.predicted] == 5.0


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
    assert np.array_equal(said.mean(), stated)


def test_a_number_is_a_multiple_of_what_is_not_mentioned():
    alone = read(["malignant->benign=5"])
    assert alone.mean().tolist() == [[0.0, 1.0], [5.0, 0.0]]
    assert alone.sentences()[-1] == "every other mistake costs 1"
    between = read(between=["malignant->benign=2..20"])
    assert (between.low[0, 1], between.high[0, 1]) == (1.0, 1.0)


def test_a_table_of_costs_may_have_its_rows_in_any_order(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("true;pox;well;flu\nwell;1;0;1,5\nflu;2;3;\npox;0;10;4\n")
    said = read([str(path)], classes=THREE)
    assert said.mean().tolist() == [[0.0, 2.0, 3.0], [4.0, 0.0, 10.0], [1.5, 1.0, 0.0]]
    assert len(said.sentences()) == 6
    assert "a pox case taken for well costs 10" in said.sentences()


def test_cells_hold_ranges_or_nothing(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text(",flu,pox,well\nflu,,2..8,1\npox,..5,0,10..\nwell,1,,\n")
    said = read([str(path)], classes=THREE)
    assert (said.low[0, 1], said.high[0, 1]) == (2.0, 8.0)
    assert (said.low[1, 2], said.high[1, 0]) == (10.0, 5.0)
    assert said.low[2, 1] < 0.1
    assert said.high[2, 1] > 10
    assert "what a well case taken for pox costs is not known" in said.sentences()


def test_a_contradiction_names_the_cell_of_the_table(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text(",0,1\n0,,1\n1,5,0\n")
    with pytest.raises(ValueError, match=r"got 'costs.csv: 1->0' and '1->0=6'"):
        read([str(path), "1->0=6"], classes=[0, 1])


def test_a_large_table_is_described_in_one_sentence(tmp_path):
    labels = [f"c{i}" for i in range(5)]
    rows = [
        ",".join(["", *labels]),
        *(f"{a}," + ",".join("0" if a == b else "2" for b in labels) for a in labels),
    ]
    (tmp_path / "costs.csv").write_text("\n".join(rows))
    said = read([str(tmp_path / "costs.csv")], classes=labels)
    assert said.sentences() == ("the costs of 20 mistakes are stated",)


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
        ({"cost": ["malignant->benign=-5"]}, "--cost must state finite numbers"),
        ({"cost": ["malignant->benign=inf"]}, "--cost must state finite numbers"),
        ({"cost": ["malignant->benign"]}, "--cost must compare mistakes, .* or state a cost"),
        ({"cost": ["malignant->malignant=1"]}, "--cost must name mistakes, got .* which is right"),
        ({"worse": ["malignant->benign"]}, "--worse must put one mistake above another"),
        ({"worse": ["malignant > bening"]}, "got 'bening'; did you mean 'benign'"),
        ({"worse": ["malignant > malignant->benign"]}, "must not put a cost above itself"),
        ({"worse": ["malignant > benign > malignant"]}, "must not contradict each other"),
        ({"between": ["malignant=20..2"]}, "--cost-between must state .* 0 <= low <= high"),
        ({"between": ["malignant=.."]}, "--cost-between must state"),
        ({"between": ["malignant=2-20"]}, "--cost-between must state"),
        ({"between": ["2..20"]}, "--cost-between must have mistakes on both sides"),
        ({"between": ["malignant=2..20*benign"]}, "--cost-between must state one cost"),
        (
            {"cost": ["malignant=5", "malignant->benign=6"]},
            "got 'malignant=5' and 'malignant->benign=6'",
        ),
        (
            {"cost": ["malignant=5"], "between": ["malignant=6.."]},
            "got 'malignant=5' and 'malignant=6..'",
        ),
        (
            {"cost": ["malignant=1", "benign=5"], "worse": ["malignant > benign"]},
            "must not contradict each other, got 'malignant=1', 'benign=5' and",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(said, sentence):
    with pytest.raises(ValueError, match=sentence):
        read(**said)


def test_what_can_be_read_in_two_ways_asks_for_quotes():
    with pytest.raises(ValueError, match=r"must be read in one way, .* put quotes around"):
        read(["a->b=5"], classes=["a", "b", "a->b"])
    said = read(['"a->b"=5'], classes=["a", "b", "a->b"])
    assert said.mean()[1].tolist() == [5.0, 0.0, 5.0]


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"costs.csv is not there"):
        read([str(tmp_path / "costs.csv")])
    with pytest.raises(ValueError, match="classes must be at least two"):
        read(classes=["a"])

"""Statements about costs: read from sentences and dicts, worded, and written back."""

import unicodedata
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ecselm.costs.sentences import (
    Mistake,
    Statement,
    as_sentence,
    parse_statements,
    read_sentence,
    sentence_classes,
)

TWO = ["ill", "well"]
THREE = ["flu", "pox", "well"]
MISS, ALARM = Mistake(0, 1), Mistake(1, 0)
INF = np.inf


@pytest.mark.parametrize(
    ("text", "low", "high", "right"),
    [
        ("ill->well > well->ill", 1, INF, ALARM),
        ("well->ill<ill->well", 1, INF, ALARM),
        ("ill→well >= 3 * well→ill", 3, INF, ALARM),
        ("ill->well>=well->ill*3", 3, INF, ALARM),
        ("ill->well <= 20 * well->ill", 0, 20, ALARM),
        ("ill->well = 3..20 * well->ill", 3, 20, ALARM),
        ("ill->well = well->ill * 3 .. 20", 3, 20, ALARM),
        ("ill->well = 3 *well->ill", 3, 3, ALARM),
        ("ill->well = 3.. * well->ill", 3, INF, ALARM),
        ("ill->well = ..20 * well->ill", 0, 20, ALARM),
        ("ill->well >= well->ill", 1, INF, ALARM),
        ("ill->well <= well->ill", 0, 1, ALARM),
        ("ill->well = well->ill", 1, 1, ALARM),
        ("ill -> well > well", 1, INF, Mistake(1)),
        ("ill->well = 5", 5, 5, None),
        ("ill->well=3..20", 3, 20, None),
        (" ill->well >= 3 ", 3, INF, None),
        ("ill->well <= 20", 0, 20, None),
        ("ill->well = 3..", 3, INF, None),
        ("ill->well = ..20", 0, 20, None),
        ("ill->well = 1.5e-3.. .5", 0.0015, 0.5, None),
        ("ill->well = 0", 0, 0, None),
        ("ill->well >= 0", 0, INF, None),
    ],
)
def test_a_sentence_is_two_ends_and_a_mistake_to_compare_with(text, low, high, right):
    (statement,) = read_sentence(text, TWO)
    assert statement == Statement(MISS, low, high, right)
    assert statement.text == text.strip()


def test_a_class_stands_for_any_mistake_on_it():
    assert read_sentence("ill = 2 * well", TWO) == [Statement(Mistake(0), 2, 2, Mistake(1))]


@pytest.mark.parametrize("text", ["pox > flu->well > well", "well < flu->well < pox"])
def test_a_chain_is_a_statement_for_every_two_neighbours(text):
    statements = read_sentence(text, THREE)
    assert statements == [
        Statement(Mistake(1), 1, INF, Mistake(0, 2)),
        Statement(Mistake(0, 2), 1, INF, Mistake(2)),
    ]
    assert [statement.text for statement in statements] == [text, text]


@pytest.mark.parametrize(
    ("classes", "text", "statement"),
    [
        (["a->b", "c"], "a->b->c >= 3 * c", Statement(Mistake(0, 1), 3, INF, Mistake(1))),
        (["age>50", "age<50"], "age>50 > age<50", Statement(Mistake(0), 1, INF, Mistake(1))),
        (["age>=50", "x"], "age>=50 >= 3", Statement(Mistake(0), 3, INF)),
        (["age>=50", "x"], "x = 2*age>=50", Statement(Mistake(1), 2, 2, Mistake(0))),
        (["x>", "y"], "x>= 3", Statement(Mistake(0), 3, 3)),
        (["x=1", "x=2"], "x=1->x=2=5", Statement(Mistake(0, 1), 5, 5)),
        (["2*a", "b"], "b = 3*2*a", Statement(Mistake(1), 3, 3, Mistake(0))),
        (["3 * a", "b"], "b = 3 * a", Statement(Mistake(1), 1, 1, Mistake(0))),
        (["Crohn's", "Bär"], "Ba\u0308r > Crohn's", Statement(Mistake(1), 1, INF, Mistake(0))),
        (["a > b", "c"], '"a > b" > c', Statement(Mistake(0), 1, INF, Mistake(1))),
        (["a = 3", "c"], "c = 'a = 3'*2", Statement(Mistake(1), 2, 2, Mistake(0))),
        (['"', "c"], '"""" > c', Statement(Mistake(0), 1, INF, Mistake(1))),
        ([0, 1], "1.0->0 = 1", Statement(Mistake(1, 0), 1, 1)),
        ([0, 1], '"1" = 1', Statement(Mistake(1), 1, 1)),
        ([0, 1], '0 = "1"', Statement(Mistake(0), 1, 1, Mistake(1))),
        ([0, 1], "0->1 >= 3 * 1", Statement(Mistake(0, 1), 3, INF, Mistake(1))),
        ([-1, 1], "-1->1 > 1->-1", Statement(Mistake(0, 1), 1, INF, Mistake(1, 0))),
        ([-1, 1], "1 >= -1", Statement(Mistake(1), 1, INF, Mistake(0))),
        ([False, True], "True > False", Statement(Mistake(1), 1, INF, Mistake(0))),
        ([None, "a"], "None = 4", Statement(Mistake(0), 4, 4)),
        (np.array([0.5, 1.5]), "1.5->0.5 = 2", Statement(Mistake(1, 0), 2, 2)),
    ],
)
def test_names_may_hold_almost_anything(classes, text, statement):
    assert read_sentence(text, classes) == [statement]


@pytest.mark.parametrize(
    ("classes", "text"),
    [
        (["a", "b", "a->b"], "a->b = 5"),
        (["a", "b", "a > b", "c"], "a > b > c"),
        (["x", "x>"], "x>=3"),
        ([0, 1], "0 = 1"),
        ([0, 1], "0 >= 1"),
        ([1, 2, 3], "1 = 2 * 3"),
        (["a", "2 * b", "b"], "a = 2 * b"),
    ],
)
def test_what_can_be_read_in_two_ways_asks_for_quotes(classes, text):
    with pytest.raises(ValueError, match=r"^sentences must be read in one way, got .* put quotes"):
        read_sentence(text, classes)


def test_many_ways_to_read_a_chain_are_not_all_listed():
    with pytest.raises(ValueError, match="must be read in one way"):
        read_sentence(">".join(["a"] * 60), ["a", "a>a", "b"])


NUMBERS = "must state finite numbers with 0 <= low <= high and 0 < high, or a cost of 0"
FORMS = "must compare mistakes, as in .* or state a cost, as in"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("il > well", "must name classes of the data, 'ill', 'well', got 'il'; did you mean 'ill'"),
        ("ill > wel", "got 'wel'; did you mean 'well'"),
        ("ill->wel = 3", "got 'wel'; did you mean 'well'"),
        ("ill >= 3 * wel", "got 'wel'; did you mean 'well'"),
        ("ill = wel", "got 'wel'; did you mean 'well'"),
        ("ill->ill = 3", "must name mistakes, got 'ill->ill = 3', which is right"),
        ("well > ill->ill", "must name mistakes, got 'well > ill->ill', which is right"),
        ("ill > ill", "must not compare a mistake with itself, got 'ill > ill'"),
        ("ill > ill->well", "must not compare a mistake with itself"),
        ("ill->well = 2 * ill->well", "must not compare a mistake with itself"),
        ("well > ill > ill", "must not compare a mistake with itself"),
        ("ill = -5", NUMBERS),
        ("ill = 1e999", NUMBERS),
        ("ill <= 1e999", NUMBERS),
        ("ill = inf", NUMBERS),
        ("ill = nan", NUMBERS),
        ("ill = 20..3", NUMBERS),
        ("ill = 20..3 * well", NUMBERS),
        ("ill = ..", NUMBERS),
        ("ill = 0...5", NUMBERS),
        ("ill = ..0", NUMBERS),
        ("ill <= 0", NUMBERS),
        ("ill = 0 * well", NUMBERS),
        ("ill >= 3..20", FORMS),
        ("ill > 3", "must have mistakes on both sides of '>' and '<', and numbers after"),
        ("ill > 3 * well", "must have mistakes on both sides of '>' and '<', and numbers after"),
        ("ill > well < ill", FORMS),
        ("ill", FORMS),
        ("", FORMS),
        ("ill =", FORMS),
        ("= 3", FORMS),
        ("ill = 3 * 4", FORMS),
        ("ill = well * ill", FORMS),
    ],
)
def test_what_cannot_be_meant_is_refused(text, sentence):
    with pytest.raises(
        ValueError, match=f"^knowledge {sentence}" if "must" in sentence else sentence
    ):
        read_sentence(text, TWO, "knowledge")


def test_a_number_is_no_sentence():
    with pytest.raises(TypeError, match="sentences must be text, got 5"):
        read_sentence(5, TWO)


def test_the_ends_of_a_statement_are_checked():
    for low, high in [(-1, 2), (3, 2), (INF, INF), (np.nan, 2)]:
        with pytest.raises(ValueError, match="low and high must satisfy 0 <= low <= high"):
            Statement(MISS, low, high)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ill->well > well->ill", "{0} is worse than {1}"),
        ("ill->well >= 3 * well->ill", "{0} costs at least 3 times as much as {1}"),
        ("ill->well = 3..20 * well->ill", "{0} costs between 3 and 20 times as much as {1}"),
        ("ill->well = 2.5 * well->ill", "{0} costs 2.5 times as much as {1}"),
        ("ill->well <= 20 * well->ill", "{0} costs at most 20 times as much as {1}"),
        ("ill->well = well->ill", "{0} costs as much as {1}"),
        ("ill->well <= well->ill", "{0} costs at most as much as {1}"),
        ("ill->well >= 0 * well->ill", "what {0} costs compared with {1} is not known"),
        ("ill->well = 3..20", "{0} costs between 3 and 20"),
        ("ill->well = 5", "{0} costs 5"),
        ("ill->well >= 3", "{0} costs at least 3"),
        ("ill->well <= 20", "{0} costs at most 20"),
        ("ill->well = 0", "{0} costs nothing"),
        ("ill->well = 0..", "what {0} costs is not known"),
        ("ill = 5", "any mistake on an ill case costs 5"),
        ("ill > well->ill", "any mistake on an ill case is worse than {1}"),
    ],
)
def test_a_statement_is_put_in_words(text, words):
    (statement,) = read_sentence(text, TWO)
    sides = "an ill case taken for well", "a well case taken for ill"
    assert statement.words(TWO) == words.format(*sides)
    assert statement.words(np.array(TWO)) == words.format(*sides)


def test_classes_that_are_numbers_are_called_classes():
    (statement,) = read_sentence("1->0 > 0", [0, 1])
    words = "a case of class 1 taken for class 0 is worse than any mistake on a case of class 0"
    assert statement.words(np.array([0, 1])) == words


NAMES = st.one_of(
    st.text(st.sampled_from("ab13.e-+><=*→\"' \n"), max_size=6),
    st.text(st.characters(blacklist_categories=["Cs"]), max_size=5),
)
LABELS = st.one_of(
    st.lists(NAMES, min_size=2, max_size=4, unique=True),
    st.lists(st.integers(-3, 30), min_size=2, max_size=4, unique=True),
    st.lists(st.floats(allow_nan=False), min_size=2, max_size=4, unique=True),
    st.just([False, True]),
)
ENDS = st.sampled_from([0.0, 1.0, 3.0, INF]) | st.floats(0, allow_nan=False)


@st.composite
def statements(draw, n_classes):
    codes = st.integers(0, n_classes - 1)
    mistakes = st.tuples(codes, st.none() | codes).filter(lambda one: one[0] != one[1])
    left = Mistake(*draw(mistakes))
    right = draw(st.none() | mistakes.map(lambda one: Mistake(*one)))
    assume(right is None or not left.overlaps(right))
    low, high = sorted([draw(ENDS), draw(ENDS)])
    assume(low < INF and (high > 0 or right is None))
    return Statement(left, low, high, right)


@given(st.data(), LABELS)
@settings(max_examples=300, deadline=None)
def test_a_statement_comes_back_whatever_the_names(data, classes):
    assume(len({unicodedata.normalize("NFC", str(label)) for label in classes}) == len(classes))
    statement = data.draw(statements(len(classes)))
    assert read_sentence(as_sentence(statement, classes), classes) == [statement]


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("ill->well > well->ill", TWO),
        ("ill->well = 3..20 * well", TWO),
        ("very ill->well <= 0.5", ["very ill", "well"]),
        ("1->0 = 1", [0, 1]),
        ('"0" = 1', [0, 1]),
        ('"a->b" = 5', ["a", "b", "a->b"]),
        ('"a->b" > b->a', ["a", "b", "a->b"]),
    ],
)
def test_quotes_are_written_where_they_are_needed_only(text, classes):
    (statement,) = read_sentence(text, classes)
    assert as_sentence(statement, classes) == text


def test_names_of_one_normal_form_cannot_be_told_apart():
    with pytest.raises(ValueError, match="classes must have names that can be distinguished"):
        as_sentence(Statement(Mistake(1), 5, 5), ["Bär", "Ba\u0308r"])


@pytest.mark.parametrize(
    ("sentences", "names"),
    [
        (["b->a >= 3 * a->b"], ["a", "b"]),
        (["b→ a = c * 3..20", "a = 5"], ["a", "b", "c"]),
        (["c > a > b", "a < b"], ["a", "b", "c"]),
        (["1->0 = 5", "2 > 0"], ["0", "1", "2"]),
        (["\"a > b\" <= 2*'c->d'", 'c->d = "5"'], ["5", "a > b", "c", "c->d", "d"]),
        (["very ill->well = ..20", '"well" = inf'], ["very ill", "well"]),
        ("a > b", ["a", "b"]),
    ],
)
def test_classes_are_those_that_sentences_name(sentences, names):
    assert sentence_classes(sentences) == names


@pytest.mark.parametrize(("sentences", "names"), [([], r"\[\]"), (["a = 5", "a >= 3"], r"\['a'\]")])
def test_sentences_that_name_one_class_need_the_others(sentences, names):
    rule = "classes must be given where the sentences name fewer than two"
    with pytest.raises(ValueError, match=f"^{rule}, got {names}$"):
        sentence_classes(sentences)


@pytest.mark.parametrize(
    ("stated", "statement", "text"),
    [
        ({"fixed": {("ill", "well"): 5}}, Statement(MISS, 5, 5), "fixed[('ill', 'well')] = 5"),
        ({"fixed": {"ill": 0}}, Statement(Mistake(0), 0, 0), "fixed['ill'] = 0"),
        (
            {"intervals": {("ill", "well"): (3, 20)}},
            Statement(MISS, 3, 20),
            "intervals[('ill', 'well')] = (3, 20)",
        ),
        (
            {"intervals": {np.str_("ill"): [0, INF]}},
            Statement(Mistake(0), 0, INF),
            "intervals['ill'] = [0, inf]",
        ),
        (
            {"intervals": {"ill": np.array([0.5, 2.0])}},
            Statement(Mistake(0), 0.5, 2),
            "intervals['ill'] = [0.5, 2.0]",
        ),
        (
            {"order": [("ill", "well")]},
            Statement(Mistake(0), 1, INF, Mistake(1)),
            "order: ('ill', 'well')",
        ),
        (
            {"order": np.array([["ill", "well"]])},
            Statement(Mistake(0), 1, INF, Mistake(1)),
            "order: ['ill', 'well']",
        ),
        (
            {"order": [(("ill", "well"), "well")]},
            Statement(MISS, 1, INF, Mistake(1)),
            "order: (('ill', 'well'), 'well')",
        ),
        (
            {"ratios": {("ill", "well"): 3}},
            Statement(Mistake(0), 3, INF, Mistake(1)),
            "ratios[('ill', 'well')] = 3",
        ),
        (
            {"ratios": {(("ill", "well"), ("well", "ill")): (3, np.float64(20))}},
            Statement(MISS, 3, 20, ALARM),
            "ratios[(('ill', 'well'), ('well', 'ill'))] = (3, 20.0)",
        ),
        (
            {"ratios": [(["ill", "well"], "well", Fraction(1, 2))]},
            Statement(MISS, 0.5, INF, Mistake(1)),
            "ratios: (['ill', 'well'], 'well', Fraction(1, 2))",
        ),
        (
            {"ratios": [("ill", "well", 3, 20)]},
            Statement(Mistake(0), 3, 20, Mistake(1)),
            "ratios: ('ill', 'well', 3, 20)",
        ),
    ],
)
@pytest.mark.parametrize("classes", [TWO, np.array(TWO)], ids=["list", "array"])
def test_dicts_and_lists_are_statements_too(classes, stated, statement, text):
    (found,) = parse_statements(classes, **stated)
    assert found == statement
    assert found.text == text


def test_statements_stand_in_the_order_of_the_parameters():
    found = parse_statements(
        np.array([0, 1, 2]), {1: 1}, {(0, np.int64(2)): (1, 2)}, [(0, 1)], {(1, 2): 3}
    )
    assert [one.left for one in found] == [Mistake(1), Mistake(0, 2), Mistake(0), Mistake(1)]
    assert parse_statements(TWO) == []


def test_labels_of_several_types_stay_what_they_are():
    assert parse_statements([1, "1"], {"1": 2}) == [Statement(Mistake(1), 2, 2)]


COST = r"fixed\['ill'\] must be one finite cost >= 0, got"
PAIR = r"intervals\['ill'\] must be a pair \(low, high\) with 0 <= low <= high and 0 < high, .* got"
RATIO = r"ratios\[\('ill', 'well'\)\] must be a least ratio >= 0 or a pair \(low, high\) .* got"


@pytest.mark.parametrize(
    ("stated", "sentence"),
    [
        ({"fixed": {"ill": -1}}, f"{COST} -1"),
        ({"fixed": {"ill": INF}}, f"{COST} inf"),
        ({"fixed": {"ill": np.nan}}, f"{COST} nan"),
        ({"fixed": {"ill": "5"}}, f"{COST} '5'"),
        ({"fixed": {"ill": True}}, f"{COST} True"),
        ({"fixed": {"ill": 10**400}}, COST),
        ({"fixed": {"ill": (1, 2)}}, rf"{COST} \(1, 2\)"),
        ({"fixed": {"il": 1}}, r"fixed must name classes .* got 'il'; did you mean 'ill'"),
        ({"fixed": {("ill", "wel"): 1}}, r"fixed must name classes .* did you mean 'well'"),
        ({"fixed": {("ill", "ill"): 1}}, r"fixed must name mistakes, got \('ill', 'ill'\), which"),
        ({"fixed": {("ill", "well", "ill"): 1}}, "fixed must name a class or a pair"),
        ({"fixed": {("ill",): 1}}, "fixed must name a class or a pair"),
        ({"intervals": {"ill": 5}}, f"{PAIR} 5"),
        ({"intervals": {"ill": (1, 2, 3)}}, rf"{PAIR} \(1, 2, 3\)"),
        ({"intervals": {"ill": (2, 1)}}, rf"{PAIR} \(2, 1\)"),
        ({"intervals": {"ill": (-1, 1)}}, rf"{PAIR} \(-1, 1\)"),
        ({"intervals": {"ill": (0, 0)}}, rf"{PAIR} \(0, 0\)"),
        ({"intervals": {"ill": (INF, INF)}}, rf"{PAIR} \(inf, inf\)"),
        ({"intervals": {"ill": (np.nan, 2)}}, rf"{PAIR} \(nan, 2\)"),
        ({"intervals": {"ill": ("1", 2)}}, rf"{PAIR} \('1', 2\)"),
        ({"intervals": {"ill": "12"}}, f"{PAIR} '12'"),
        ({"order": ["ill"]}, r"order must compare pairs \(greater, smaller\), got 'ill'"),
        ({"order": [("ill", "well", "ill")]}, r"order must compare pairs"),
        ({"order": [("ill", "wel")]}, "order must name classes .* did you mean 'well'"),
        ({"order": [("ill", {"well"})]}, "order must name a class or a pair .* got {'well'}"),
        ({"order": [("ill", "ill")]}, r"order must not compare a mistake with itself, got \('ill'"),
        ({"order": [("ill", ("ill", "well"))]}, "order must not compare a mistake with itself"),
        ({"ratios": {"ill": 3}}, r"ratios must compare pairs \(greater, smaller\), got 'ill'"),
        ({"ratios": {("ill", "well"): "3"}}, f"{RATIO} '3'"),
        ({"ratios": {("ill", "well"): -3}}, f"{RATIO} -3"),
        ({"ratios": {("ill", "well"): INF}}, f"{RATIO} inf"),
        ({"ratios": {("ill", "well"): (3,)}}, rf"{RATIO} \(3,\)"),
        ({"ratios": [("ill", "well", 3, 2)]}, rf"{RATIO} \(3, 2\)"),
        ({"ratios": [("ill", "well")]}, r"ratios must hold tuples \(greater, smaller, least\) or"),
        ({"ratios": [5]}, "ratios must hold tuples .* got 5"),
        ({"ratios": [("ill", "il", 3)]}, "ratios must name classes .* did you mean 'ill'"),
    ],
)
def test_what_dicts_cannot_mean_is_refused(stated, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        parse_statements(TWO, **stated)


@pytest.mark.parametrize(
    ("stated", "sentence"),
    [
        ({"fixed": [("ill", 5)]}, "fixed must be a dict by class or by"),
        ({"intervals": 5}, "intervals must be a dict by class or by"),
        ({"order": {("ill", "well"): 3}}, "order must be a list of tuples, got {"),
        ({"order": "ill > well"}, "order must be a list of tuples, got 'ill > well'"),
        ({"ratios": 3}, "ratios must be a list of tuples, got 3"),
    ],
)
def test_other_types_are_refused(stated, sentence):
    with pytest.raises(TypeError, match=f"^{sentence}"):
        parse_statements(TWO, **stated)

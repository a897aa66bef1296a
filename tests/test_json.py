"""JSON of unknown origin: refused by size, depth and digits, in one sentence."""

import json
import tracemalloc

import pytest

from ecselm._json import DEPTH, DIGITS, FIXED, parsed_json
from ecselm._wording import printable
from ecselm.costs.sentences import MOST_CHARACTERS, MOST_SIGNS, read_sentence
from ecselm.elicitation.elicitor import read_json
from ecselm.saving import load_model
from ecselm.study import Card


@pytest.mark.parametrize(
    "value", [{}, [], None, "a", 1.5, -3, 10**299, {"a": [{"b": [True, "é", "\U0001f600"]}]}]
)
def test_plain_values_pass_as_text_and_bytes(value):
    text = json.dumps(value)
    assert parsed_json(text) == parsed_json(text.encode()) == value


def test_depth_is_limited_at_its_limit():
    assert parsed_json("[" * DEPTH + "]" * DEPTH)
    for depth in (DEPTH + 1, 100_000):
        with pytest.raises(ValueError, match=f"nested at most {DEPTH} levels deep, got more"):
            parsed_json("[" * depth + "]" * depth)
    assert parsed_json(json.dumps("[" * 1000)) == "[" * 1000  # brackets in a string are none


def test_digits_are_limited_at_their_limit():
    assert parsed_json("-" + "9" * DIGITS) == -(10**DIGITS) + 1
    with pytest.raises(ValueError, match=f"at most {DIGITS} digits, got one of {DIGITS + 1}"):
        parsed_json("[-" + "9" * (DIGITS + 1) + "]")
    assert parsed_json('"' + "9" * 400 + '"') == "9" * 400  # in a string they are no number


def test_size_is_limited():
    with pytest.raises(ValueError, match="it must have at most 3 bytes, got 4"):
        parsed_json("1234", most_bytes=3)


def test_texts_that_take_too_much_memory_are_refused_before_they_are_parsed():
    text = "[" + "[]," * 2_000_000 + "[]]"
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"must need at most \d+ MB of memory, got a text of"):
            parsed_json(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * len(text)
    assert FIXED == 200_000_000


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ('{"format": ' + "1" * 400 + "}", "digits, got one of 400"),
        ("[" * 200 + "]" * 200, "levels deep"),
        ("[]", "cannot be read"),
        ('{"format": "\\u001b[2J"}', "its format must be"),
    ],
)
def test_cards_are_refused_in_one_printable_sentence(text, rule):
    with pytest.raises(ValueError, match=r"^the card of the model cannot be read: ") as caught:
        Card.from_json(text)
    assert rule in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_infinite_numbers_in_cards_are_refused(monkeypatch):
    from ecselm.study import card

    with pytest.raises(ValueError, match="inf must be a finite number"):
        card._plain(float, float("inf"))
    assert card._plain(float, 3) == 3


@pytest.mark.parametrize("read", [load_model, read_json])
def test_nul_in_a_path_is_named(read):
    with pytest.raises(ValueError, match=r"path must not hold the character NUL, got 'a\\x00b'"):
        read("a\0b")


def test_answers_from_devices_are_refused(tmp_path):
    with pytest.raises(OSError, match="must be a regular file, not a device or a pipe"):
        read_json("/dev/zero")
    file = tmp_path / "answers.json"
    file.write_text("[" * 200 + "]" * 200)
    with pytest.raises(ValueError, match=r"^path must be a JSON file, got .*: its lists"):
        read_json(file)


def test_long_sentences_are_refused_and_long_chains_read():
    classes = ["ill", "well", "dead"]
    for text in (" " * (MOST_CHARACTERS + 1), "=" * (MOST_SIGNS + 1)):
        with pytest.raises(ValueError, match=r"must be sentences of at most 4000 characters"):
            read_sentence(text, classes)
    chain = " > ".join(["ill->well", "well->ill"] * 60)
    assert len(read_sentence(chain, classes)) == 119


def test_chains_of_names_with_signs_that_fit_nowhere_end_soon():
    """Every name may end at every sign: there are exponentially many ways to begin."""
    with pytest.raises(ValueError, match="must name classes of the data"):
        read_sentence("a>" * 180 + "y", ["a", "a>a", "x"])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("Jürgen\N{NO-BREAK SPACE}Ö 日本\n\t", "Jürgen\N{NO-BREAK SPACE}Ö 日本\n\t"),
        ("\x1b[2J\x07\x9b", "\\x1b[2J\\x07\\x9b"),
        ("a\u202eb\u2066", "a\\u202eb\\u2066"),
        ("\ud800\x00", "\\ud800\\x00"),
    ],
)
def test_control_characters_are_shown_as_escapes(text, shown):
    assert printable(text) == shown

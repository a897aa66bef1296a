"""Small files that ask for much, made when the tests run: by name, content and what refuses them.

The ending of a name says what reads the file, see ``reader.py``.
"""

import json

from tests.saving.forged import node
from tests.saving.test_budget import CHECKPOINTS, MODELS, list_node, model_file
from tests.saving.test_hostile import called, held

MILLION = 1_000_000


def corpus():
    """Return every file as (make, part of the refusal)."""
    files = {f"{name}.skops": found for name, found in MODELS.items()}
    files |= {f"{name}.npz": found for name, found in CHECKPOINTS.items()}
    for name, part in {**called("touch was_here"), **held()}.items():
        made = model_file(list_node(part))
        files[f"calls {name}.skops"] = (lambda made=made: made, "")
    version = json.dumps({"format": 9, "ecselm": "\x1b]0;gone\x07\x1b[2J"})
    files["escapes.skops"] = (
        lambda: model_file(list_node(), header=version),
        "its header must name a version of ecselm, got '\\x1b]0;gone\\x07\\x1b[2J'",
    )
    files["digits.skops"] = (
        lambda: model_file(list_node(), header='{"format": ' + "1" * 400 + "}"),
        "at most 300 digits, got one of 400",
    )
    for ending in ("card", "answers"):
        files |= {f"{name}.{ending}": found for name, found in TEXTS.items()}
    files |= {f"{name}.sentence": found for name, found in SENTENCES.items()}
    files["function.skops"] = (
        lambda: model_file(node("FunctionNode", "os.system")),
        "it asks for what no model is made of, os.system",
    )
    return files


TEXTS = {
    "depth": (lambda: b"[" * 5000 + b"]" * 5000, "nested at most 100 levels deep, got more"),
    "endless depth": (lambda: b"[" * MILLION, "nested at most 100 levels deep, got more"),
    "objects": (
        lambda: b"[" + b"{}," * (3 * MILLION) + b"{}]",
        "MB of memory, got a text of",
    ),
    "digits": (lambda: b"[" + b"1" * 400 + b"]", "at most 300 digits, got one of 400"),
    "many digits": (lambda: b"[" + b"1" * MILLION + b"]", "digits, got one of 1000000"),
}
SENTENCES = {
    "signs": (lambda: b">" * 10_000, "400 signs, got '>>>>"),
    "spaces": (lambda: b" " * MILLION, "at most 4000 characters"),
    "chain": (lambda: b"ill->well>" * 10_000, "400 signs, got 'ill->well>"),
    "names": (lambda: b"a>" * 190 + b"y", "must name classes"),
    "digits": (lambda: b"ill = " + b"1" * 3000, "finite numbers"),
}

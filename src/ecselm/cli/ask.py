"""``ecselm ask``: ask a person about costs, and let a saved model decide by the answers."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ecselm._files import locked
from ecselm._typing import FloatArray
from ecselm.cli._files import card_of, check_distinct, check_writable, saved_model, store_model
from ecselm.cli._output import print_json, print_lines
from ecselm.costs import CostConstraints
from ecselm.costs.sentences import Mistake, Statement
from ecselm.elicitation import CostElicitor, Question
from ecselm.elicitation.elicitor import known_costs
from ecselm.study import (
    Card,
    check_can_ask,
    predicted_rows,
    recorded_probabilities,
    with_answers,
)
from ecselm.tables.read import read_table

UNDO, STOP = ("u", "undo"), ("s", "stop")
PROMPT = "answer (1 to {n}, u to undo, s to stop): "


def add_parser(commands: Any, summary: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "ask",
        help=summary,
        description="Ask one question about costs at a time, until the decisions of a model hardly "
        "depend on costs that are not known, or until you stop. Nothing is fitted again: the "
        "model decides by the answers. Every answer is written before the next question.",
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="a model saved by 'ecselm fit'")
    parser.add_argument(
        "data",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="table of rows like those to decide on (default: the test rows of the fit)",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="MODEL", help="updated model (default: MODEL itself)"
    )
    parser.add_argument(
        "--answers",
        type=Path,
        metavar="FILE",
        help="JSON file of answers: those that are there are repeated, new ones are added "
        "(default: MODEL with the ending .answers.json)",
    )
    parser.add_argument("--by", metavar="NAME", help="who answers, for the report")
    parser.add_argument(
        "--error-rate",
        type=float,
        metavar="SHARE",
        help="share of answers that may be wrong (default: 0)",
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        metavar="SHARE",
        help="regret at which nothing is left to ask, 1 is deciding without a model "
        "(default: 0.01)",
    )
    parser.add_argument("--json", action="store_true", help="print the answers and costs as JSON")
    parser.add_argument(
        "--pickle",
        action="store_true",
        help="load the model even if it is a pickle, which can execute code",
    )
    parser.set_defaults(run=run, resumes=True)


def run(args: argparse.Namespace) -> None:
    """Ask, and write the model."""
    output = args.model if args.output is None else args.output
    answers = args.model.with_suffix(".answers.json") if args.answers is None else args.answers
    check_writable(output, "--output")
    check_writable(answers, "--answers")
    check_distinct({"MODEL": args.model, "FILE": args.data, "--answers": answers})
    check_distinct({"--output": output, "FILE": args.data, "--answers": answers})
    if args.answers is not None and not sys.stdin.isatty() and not answers.exists():
        raise ValueError(f"--answers must be a file that is there, got {answers}")
    args.output, args.answers = output, answers  # as errors name them
    with ExitStack() as held:
        # Both files are read, changed and written: a second dialogue would lose answers.
        for option, file in (("--output", output), ("--answers", answers)):
            refusal = f"{option} must be used by one 'ecselm ask' at a time, got {file} in use"
            place = file.with_name(f".{file.name}.lock")
            held.enter_context(locked(place, refusal, name=option))
        _ask(args)


def _ask(args: argparse.Namespace) -> None:
    """Ask about the model, and write it as it decides by the answers."""
    saved = saved_model(args.model, pickle=args.pickle)
    card = card_of(saved.card, args.model)
    check_can_ask(saved.model, card)
    elicitor = _elicitor(args, saved.model, card, args.answers)
    _converse(elicitor, args.answers, args.by, quiet=args.json)
    if not elicitor.history:
        print_lines(["no answer, so the model stays as it is"], error=True)
        return
    model, card = with_answers(saved.model, card, elicitor)
    sentences = tightest_sentences(elicitor.credible())
    card = replace(card, request=replace(card.request, cost_constraints=sentences))
    store_model(model, args.output, card, pickle=args.pickle)
    _print_result(elicitor, card, args.output, args.answers, as_json=args.json)


def _elicitor(args: argparse.Namespace, model: Any, card: Card, answers: Path) -> CostElicitor:
    """Return the elicitor, with the answers of the file if it is there."""
    P = _probabilities(args, model, card)
    given = {"error_rate": args.error_rate, "tolerance": args.tolerance}
    options = {name: value for name, value in given.items() if value is not None}
    if answers.exists():
        if options:
            raise ValueError(
                f"--error-rate and --tolerance must be left out with answers to go on from, which "
                f"are in {answers}"
            )
        try:
            elicitor = CostElicitor.load(answers, P)
        except ValueError as error:
            message = str(error)
            if not message.startswith("path must"):
                message = f"path must be a file of answers, got {str(answers)!r}: {message}"
            raise ValueError(message.replace("path must", "--answers must", 1)) from error
        if [str(one) for one in elicitor.classes] != [str(one) for one in model.classes_]:
            raise ValueError(
                "--answers must be about the classes of the model, "
                f"{', '.join(map(str, model.classes_))}, got "
                f"{', '.join(map(str, elicitor.classes))}"
            )
        return elicitor
    return CostElicitor(known_costs(model), P, random_state=card.request.seed, **options)


def _probabilities(args: argparse.Namespace, model: Any, card: Card) -> FloatArray:
    if args.data is None:
        P = recorded_probabilities(card)
        if P is None:
            raise ValueError(
                f"FILE must be given: {args.model} holds no probabilities of test rows"
            )
        return P
    rows = predicted_rows(card, read_table(args.data))
    if not len(rows):
        raise ValueError(f"FILE must have a row or more, got {args.data}")
    P = np.asarray(model.predict_proba(rows), dtype=np.float64)
    return P / P.sum(axis=1, keepdims=True)


def _converse(elicitor: CostElicitor, answers: Path, by: str | None, *, quiet: bool) -> None:
    """Ask until nothing is left to ask, the person stops, or there is no more input."""
    is_shown = not quiet or sys.stdin.isatty()
    if elicitor.history and is_shown:
        print_lines([f"{len(elicitor.history)} answers from {answers}"], error=True)
    while (question := elicitor.ask()) is not None:
        if is_shown:
            print_lines(_shown(elicitor, question), error=True)
        word = _read(question)
        if word is None or word in STOP:
            break
        try:
            if word in UNDO:
                elicitor.undo()
            else:
                elicitor.tell(_key(question, word), by=by)
        except ValueError as error:
            if not sys.stdin.isatty():
                raise
            print_lines([f"{error}"], error=True)
            continue
        elicitor.save(answers)


def _read(question: Question) -> str | None:
    """Return what is typed, None at the end of the input."""
    if sys.stdin.isatty():
        print(PROMPT.format(n=len(question.choices)), end="", file=sys.stderr, flush=True)
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:  # what was answered stays
        return None
    return line.strip().lower() if line else None


def _key(question: Question, word: str) -> str:
    """Return the key of a choice from its number or from itself."""
    keys = [one.key for one in question.choices]
    if word.isdecimal() and 1 <= int(word) <= len(keys):
        return keys[int(word) - 1]
    if word not in keys:
        raise ValueError(
            f"answer must be a number from 1 to {len(keys)}, u or s, got {word[:40]!r}"
        )
    return word


def _shown(elicitor: CostElicitor, question: Question) -> list[str]:
    head = f"question {len(elicitor.history) + 1}; {_progress(elicitor)}"
    choices = [f"  {i}  {one.text}" for i, one in enumerate(question.choices, 1)]
    return ["", head, question.text, *choices]


def _progress(elicitor: CostElicitor) -> str:
    return (
        f"{100 * elicitor.settled:.0f} % settled, expected regret {100 * elicitor.regret:.1f} % of "
        "deciding without a model"
    )


def tightest_sentences(constraints: CostConstraints) -> tuple[str, ...]:
    """Return what is known of costs in words, one sentence for each ratio or cost.

    An answer narrows what was stated before of the same ratio, which need not be repeated.

    Examples
    --------
    >>> known = CostConstraints.from_sentences(["a->b = 1..20 * b->a", "a->b = 4..9 * b->a"])
    >>> tightest_sentences(known)[0]
    'an a case taken for b costs between 4 and 9 times as much as a b case taken for a'
    """
    labels = constraints.classes.tolist()
    merged: dict[tuple[Mistake, Mistake | None], Statement] = {}
    for one in constraints.statements:
        before = merged.get((one.left, one.right), one)
        low, high = max(one.low, before.low), min(one.high, before.high)
        merged[one.left, one.right] = replace(before, low=low, high=high)
    # A ratio to a cost that is known by number says what that number says, more narrowly.
    least, most = constraints.low, constraints.high
    for (left, right), one in [*merged.items()]:
        if right is None or right.predicted is None or (left, None) not in merged:
            continue
        place, number = (right.truth, right.predicted), merged[left, None]
        ends = one.low * least[place], one.high * most[place]
        if least[place] == most[place] and number.low <= ends[0] and ends[1] <= number.high:
            merged[left, None] = one
    said = {one.words(labels): merged[one.left, one.right] for one in constraints.statements}
    found = [said[text].words(labels) if text in said else text for text in constraints.sentences()]
    return tuple(dict.fromkeys(found))


def _print_result(
    elicitor: CostElicitor, card: Card, output: Path, answers: Path, *, as_json: bool
) -> None:
    if as_json:
        print_json(
            {
                "settled": elicitor.settled,
                "regret": elicitor.regret,
                "done": elicitor.done,
                "costs": list(card.request.cost_constraints),
                "answers": elicitor.transcript(),
            }
        )
        return
    n = len(elicitor.history)
    lines = [f"{n} answer{'' if n == 1 else 's'}; {_progress(elicitor)}"]
    lines += list(card.request.cost_constraints)
    for clash in elicitor.contradictions:
        said = "; ".join(one.text for one in clash)
        lines.append(f"note: These answers cannot all be right: {said}.")
    print_lines([*lines, f"model: {output}", f"answers: {answers}"])

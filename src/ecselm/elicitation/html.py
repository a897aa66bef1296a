"""An elicitor as HTML without a script: progress, the next question, and the answers so far."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from ecselm._wording import listed

if TYPE_CHECKING:
    from ecselm.elicitation.elicitor import CostElicitor

# What no browser shows and UTF-8 cannot hold: control characters and halves of surrogate pairs.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def elicitor_html(elicitor: CostElicitor) -> str:
    """Return how far an elicitor is, what it asks next, and what was answered.

    Parameters
    ----------
    elicitor : CostElicitor

    Examples
    --------
    >>> from ecselm.elicitation import CostElicitor
    >>> elicitor = CostElicitor({(1, 0): (1, 100)}, [[0.9, 0.1], [0.4, 0.6]], random_state=0)
    >>> "<progress" in elicitor_html(elicitor)
    True
    """
    question = elicitor.ask()
    parts = [_progress(elicitor.settled), f"<p>{_text(summary(elicitor))}</p>"]
    if question is None:
        parts.append("<p>Nothing is left to ask.</p>")
    else:
        choices = (
            f"{_text(one.text)} (<code>{_text(one.key)}</code>): {_text(would_settle(one.settles))}"
            for one in question.choices
        )
        parts += [f"<p><strong>{_text(question.text)}</strong></p>", _list("ul", choices)]
    said = [_text(one["sentence"]) for one in elicitor.transcript()]
    if said:
        parts += ["<p>Answers so far:</p>", _list("ol", said)]
    clash = contradicted(elicitor)
    if clash:
        parts.append(f"<p>{_text(clash)}</p>")
    return f'<div class="ecselm-elicitor">{"".join(parts)}</div>'


def summary(elicitor: CostElicitor) -> str:
    """Return how far an elicitor is, in a sentence."""
    n = len(elicitor.history)
    return (
        f"{n} {'answer' if n == 1 else 'answers'}: {share(elicitor.settled)} of the rows are "
        f"settled, the expected regret is {elicitor.regret:.2g} (1 is deciding without a model)."
    )


def contradicted(elicitor: CostElicitor) -> str:
    """Return which answers cannot all be right, where such are accepted, else nothing."""
    clashes = (listed([repr(one.text) for one in clash], 8) for clash in elicitor.contradictions)
    return " ".join(f"These answers cannot all be right: {one}." for one in clashes)


def would_settle(settles: float) -> str:
    """Return what a choice would settle, in words."""
    return f"{share(settles)} of the rows would be settled"


def share(value: float) -> str:
    """Return a share as per cent; what is not all or nothing does not look so.

    Examples
    --------
    >>> share(0.843), share(1.0), share(0.9999), share(0.001)
    ('84 %', '100 %', '> 99 %', '< 1 %')
    """
    if 0.995 <= value < 1.0:
        return "> 99 %"
    return "< 1 %" if 0.0 < value < 0.005 else f"{100 * value:.0f} %"


def _progress(settled: float) -> str:
    return (
        f'<progress aria-label="share of rows settled" max="1" value="{settled:.4f}">'
        f"{escape(share(settled))}</progress>"
    )


def _text(text: str) -> str:
    """Return text as HTML shows it, in contents and in quoted attributes."""
    return escape(_UNFIT.sub("\N{REPLACEMENT CHARACTER}", text))


def _list(tag: str, items: Iterable[str]) -> str:
    return f"<{tag}>{''.join(f'<li>{one}</li>' for one in items)}</{tag}>"

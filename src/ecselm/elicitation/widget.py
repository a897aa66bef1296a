"""Questions of an elicitor in a notebook, with buttons for the answers."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ecselm._wording import brief
from ecselm.elicitation.html import contradicted, summary, would_settle

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise ImportError(
        'QuestionWidget needs anywidget: install the extra "notebook", as in pip install '
        "'ecselm[notebook]'"
    ) from error

if TYPE_CHECKING:
    from ecselm.elicitation.elicitor import CostElicitor

# Colours are those of the notebook, light or dark.
STYLE = """
.ecselm-question { color: inherit; max-width: 45em; }
.ecselm-question progress { width: 100%; }
.ecselm-question .asked { font-weight: bold; }
.ecselm-question .refusal { border-left: 0.3em solid #d55e00; padding-left: 0.6em; }
.ecselm-question .choices { display: grid; gap: 0.4em; margin-bottom: 0.6em; }
.ecselm-question [hidden] { display: none; }
.ecselm-question button { background: transparent; border: 1px solid currentColor;
  border-radius: 0.3em; color: inherit; cursor: pointer; font: inherit; padding: 0.5em 0.8em;
  text-align: left; }
.ecselm-question .choices button { display: flex; flex-wrap: wrap; gap: 0.2em 1em;
  justify-content: space-between; }
.ecselm-question button:focus-visible { outline: 3px solid currentColor; outline-offset: 2px; }
.ecselm-question button[aria-disabled] { cursor: wait; opacity: 0.6; }
"""


class QuestionWidget(anywidget.AnyWidget):
    """Ask the questions of an elicitor, with buttons.

    Every click is an answer of the elicitor, or takes its last one back. What the elicitor
    refuses is shown with the question, which stays.

    Parameters
    ----------
    elicitor : CostElicitor
        It is changed by the answers.
    by : str or None, default=None
        Who answers, for the transcript.

    Attributes
    ----------
    elicitor : CostElicitor
    state : dict
        What is shown.
    request : dict
        What was clicked last: its ``id``, an ``action``, ``"answer"`` with a ``choice`` or
        ``"undo"``, and the ``number`` of answers at the time.

    Examples
    --------
    >>> from ecselm.elicitation import CostElicitor
    >>> elicitor = CostElicitor({(1, 0): (1, 100)}, [[0.9, 0.1], [0.4, 0.6]], random_state=0)
    >>> widget = elicitor.widget(by="Ada")
    >>> widget.request = {"id": 1, "action": "answer", "choice": "dont_know", "number": 0}
    >>> len(elicitor.history), elicitor.history[0].by
    (1, 'Ada')
    """

    _esm = files("ecselm.elicitation").joinpath("_widget.js").read_text(encoding="utf-8")
    _css = STYLE

    state = traitlets.Dict().tag(sync=True)
    request = traitlets.Dict().tag(sync=True)

    def __init__(self, elicitor: CostElicitor, *, by: str | None = None) -> None:
        self.elicitor, self.by = elicitor, by
        self._served = 0
        super().__init__(state=self._shown(""))
        self.observe(self._serve, names="request")

    def refresh(self) -> None:
        """Show the present question, after the elicitor was changed by other code."""
        self.state = self._shown("")

    def _serve(self, change: Any) -> None:
        """Do what was clicked; a browser may send anything."""
        request, message = change["new"], ""
        served = request.get("id")
        if isinstance(served, int):
            self._served = served
        try:
            self._act(request)
        except ValueError as error:
            message = str(error)
        self.state = self._shown(message)

    def _act(self, request: dict[str, Any]) -> None:
        action, number = request.get("action"), request.get("number")
        if not isinstance(action, str) or action not in {"answer", "undo"}:
            raise ValueError(f"action must be answer or undo, got {brief(repr(action))}")
        if number != len(self.elicitor.history):
            raise ValueError(
                "an answer must be to the question that is asked now: others were answered "
                "elsewhere, and this is the present one"
            )
        if action == "undo":
            self.elicitor.undo()
        else:
            self.elicitor.tell(request.get("choice", ""), by=self.by)

    def _shown(self, message: str) -> dict[str, Any]:
        """Return what the widget shows, as plain values."""
        question = self.elicitor.ask()
        return {
            "answers": [one["sentence"] for one in self.elicitor.transcript()],
            "choices": [
                {"key": one.key, "text": one.text, "settles": would_settle(one.settles)}
                for one in (() if question is None else question.choices)
            ],
            "error": message or contradicted(self.elicitor),
            "number": len(self.elicitor.history),
            "question": "Nothing is left to ask." if question is None else question.text,
            "served": self._served,
            "settled": float(self.elicitor.settled),
            "summary": summary(self.elicitor),
        }

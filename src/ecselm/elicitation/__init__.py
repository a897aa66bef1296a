"""Ask people what mistakes cost, one question at a time."""

from ecselm.elicitation.elicitor import Answer, CostElicitor
from ecselm.elicitation.panel import Agreement, Panel
from ecselm.elicitation.questions import Choice, Question

__all__ = ["Agreement", "Answer", "Choice", "CostElicitor", "Panel", "Question"]

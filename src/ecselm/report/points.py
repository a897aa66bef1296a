"""Operating points: what other costs would change, as a table and as a slider."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

from ecselm.report.html import (
    Markup,
    Section,
    amount,
    count,
    element,
    escaped,
    figure,
    joined,
    named,
    number,
    paragraph,
    table,
)
from ecselm.study import Card, OperatingPoint

CASES = 1000  # by which counts are stated

# The slider only selects a row of the table below it, which is all there is without a script.
SCRIPT = """
for (const walk of document.querySelectorAll("[data-walk]")) {
  const rows = [...walk.querySelectorAll("tbody tr")];
  const box = walk.querySelector("[data-slider]");
  const slider = box.querySelector("input"), said = box.querySelector("output");
  const heads = [...walk.querySelectorAll("thead th")].map(one => one.textContent);
  const show = () => {
    const row = rows[slider.value];
    rows.forEach(one => one.classList.toggle("shown", one === row));
    const cells = [...row.children].map(one => one.textContent);
    said.textContent = cells.map((text, i) => heads[i] + ": " + text).join("; ");
    slider.setAttribute("aria-valuetext", said.textContent);
  };
  slider.max = rows.length - 1;
  slider.value = (rows.length - 1) / 2;
  slider.addEventListener("input", show);
  box.hidden = false;
  show();
}
"""
SCRIPT_HASH = "sha256-" + base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()


def operating(card: Card) -> Section | None:
    """Return what is caught, what is a false alarm and what it costs, by costs."""
    found = card.test.operating
    if found is None or not found.n:
        return None
    name = named(found.class_name, 30)
    head: list[str] = ["decided by", joined((name, " caught")), joined((name, " missed"))]
    head += ["false alarms", "all mistakes"]
    has_costs = any(one.mean_cost is not None for one in found.points)
    head += ["cost"] if has_costs else []
    words = paragraph(
        f"Of {count(CASES)} cases like the test rows, with the probabilities of this model: how "
        "many cases of ", element("b", named(found.class_name)), " are caught and missed, how "
        "many others are taken for it, and what all mistakes cost, if decisions were made by other "
        f"costs. These are counts of {count(found.n)} test rows, scaled: small ones are uncertain.",
    )  # fmt: skip
    points = table(
        f"Per {count(CASES)} cases",
        head,
        (
            (escaped(one.name), *_cells(one, found.n, ("points", i)))
            for i, one in enumerate(found.points)
        ),
        "points",
    )
    return Section("operating", "Operating points", joined((words, points, _walk(card, head))))


def _walk(card: Card, head: Sequence[str]) -> Markup | None:
    found = card.test.operating
    if found is None or not found.walk:
        return None
    label = f"Costs of a mistake on {found.class_name}, as a multiple of those of this model"
    slider = element(
        "div",
        element(
            "label",
            escaped(label),
            element("input", type="range", min="0", max=str(len(found.walk) - 1), step="1"),
        ),
        element("output"),
        data_slider=True,
        hidden=True,
        class_="slider",
    )
    rows = (
        (
            figure(amount(one.factor), one.factor, *_place("walk", i), "factor"),
            *_cells(one, found.n, ("walk", i)),
        )
        for i, one in enumerate(found.walk)
        if one.factor is not None
    )
    walked = table(
        f"Multiples of these costs, per {count(CASES)} cases",
        ("times", *head[1:]),
        rows,
        "points",
    )
    summary = element("summary", "All points of the slider")
    folded = element("details", summary, walked, class_="long")  # not in print
    return element("div", slider, folded, data_walk=True)


def _place(*parts: str | int) -> tuple[str | int, ...]:
    return ("test", "operating", *parts)


def _cells(one: OperatingPoint, n: int, place: tuple[str | int, ...]) -> tuple[Markup, ...]:
    """Return counts per 1000 cases; the card holds those of the test rows."""
    counts = {key: getattr(one, key) for key in ("n_caught", "n_missed", "n_alarms", "n_wrong")}
    cells = [
        number(figure(amount(CASES * value / n), value, *_place(*place), key))
        for key, value in counts.items()
    ]
    if one.mean_cost is not None:
        cells.append(
            number(
                figure(amount(CASES * one.mean_cost), one.mean_cost, *_place(*place), "mean_cost")
            )
        )
    return tuple(cells)

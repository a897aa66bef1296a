"""A part of the page under a heading."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ecselm.report.markup import Markup, element


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page, and the name by which links find it."""

    key: str
    title: str
    body: Markup
    kind: str | None = None  # class in the style sheet

    def render(self) -> Markup:
        """Return the part as HTML.

        Examples
        --------
        >>> Section("data", "The data", Markup("<p>None.</p>")).render()
        '<section id="data" aria-labelledby="data-title"><h2 id="data-title">The data</h2><p>None.</p></section>'
        """  # noqa: E501
        heading = element("h2", self.title, id=f"{self.key}-title")
        return element(
            "section",
            heading,
            self.body,
            id=self.key,
            class_=self.kind,
            aria_labelledby=f"{self.key}-title",
        )


def paragraph(*parts: str, kind: str | None = None) -> Markup:
    """Return parts as a paragraph."""
    return element("p", *parts, class_=kind)


def listed(items: Iterable[str], kind: str | None = None) -> Markup:
    """Return sentences as a list."""
    return element("ul", *(element("li", item) for item in items), class_=kind)

"""Numbers as people read them, and as programs do.

Every number of the card carries its place in the card's JSON, as a JSON pointer, and its
exact value, so that a program can compare the page with the card.
"""

from __future__ import annotations

from ecselm.report.markup import Markup, element


def marks(value: float, *place: str | int) -> dict[str, str | bool | None]:
    """Return the attributes that say where in the card a number stands.

    Examples
    --------
    >>> marks(0.5, "held_out", "scores", "f1/2")
    {'data_card': '/held_out/scores/f1~12', 'data_value': '0.5'}
    """
    pointer = "".join(f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in place)
    # NumPy's floats are floats, but are not written as such.
    exact = repr(float(value)) if isinstance(value, float) else repr(value)
    return {"data_card": pointer, "data_value": exact}


def figure(text: str, value: float, *place: str | int) -> Markup:
    """Return a number in the words of a page, with its place and its exact value.

    Examples
    --------
    >>> figure("3", 3, "data", "n_train")
    '<span data-card="/data/n_train" data-value="3">3</span>'
    """
    return element("span", text, **marks(value, *place))


def score(value: float) -> str:
    """Return a score to three digits; what is not perfect does not look perfect.

    Examples
    --------
    >>> score(0.97345), score(0.99996), score(-12345.678)
    ('0.973', '0.99996', '-12,300')
    """
    text = f"{value:.3f}"
    if abs(value) >= 10:
        return amount(value)
    return f"{value:.6g}" if float(text) in {0.0, 1.0} and float(text) != value else text


def share(value: float) -> str:
    """Return a share as per cent; what is not all or nothing does not look so.

    Examples
    --------
    >>> share(0.25), share(1.0), share(0.9999), share(0.0001)
    ('25.0 %', '100 %', '> 99.9 %', '< 0.1 %')
    """
    if value in {0.0, 1.0}:
        return f"{100 * value:.0f} %"
    if 0.9995 <= value < 1.0:
        return "> 99.9 %"
    return "< 0.1 %" if 0.0 < value < 0.0005 else f"{100 * value:.1f} %"


def count(value: int) -> str:
    """Return a count.

    Examples
    --------
    >>> count(1234567)
    '1,234,567'
    """
    return f"{value:,}"


def amount(value: float, digits: int = 3) -> str:
    """Return a cost or an error to so many digits; whole numbers have all of theirs.

    Examples
    --------
    >>> amount(6.3123), amount(1234.5), amount(0.00001234), amount(10), amount(6.3123, 2)
    ('6.31', '1,230', '1.23e-05', '10', '6.3')
    """
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    rounded = float(f"{value:.{digits}g}")
    return f"{int(rounded):,}" if 1000 <= abs(rounded) < 1e9 else f"{rounded:g}"


def counted(n: int, noun: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(2, "class"), counted(3, "column")
    ('1 row', '2 classes', '3 columns')
    """
    plural = "" if n == 1 else ("es" if noun.endswith("s") else "s")
    return f"{count(n)} {noun}{plural}"

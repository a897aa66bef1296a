"""The record of a method: its sources, its estimator and its grid."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["exact", "wrapped", "substitute"]
Grid = Mapping[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of training data, on which grids depend."""

    n_samples: int
    n_features: int
    n_classes: int = 0


class Method(str):
    """The name of a method in the paper's tables, with a record of it.

    It is a string, so that names can be compared, sorted and printed.

    Parameters
    ----------
    name : str
        As the tables print it.

    Attributes
    ----------
    name : str
    task : {"classification", "regression", "pairs"}
    tables : tuple of str
        The paper's tables that have such a column, in Roman numerals; empty for methods that
        the paper does not have.
    source : str
        Source of the formula.
    status : {"exact", "wrapped", "substitute"}
        Written from a checked formula; another library's; or an interpretation where the
        formula is not available, which the docstring of the estimator describes.
    extra : str or None
        The optional extra that it needs.
    aliases : tuple of str
        Other names for it.
    make : callable
        Returns the estimator.
    grid : mapping, callable or None
        Grid of the tuning by cross-validation, or a function of a :class:`Shape` that returns
        it; see :meth:`grid_for`.
    twin : str
        The method that it is the same as on data that lack what makes it different; empty if
        there is none.
    twin_if : {"", "equal costs", "no attributes"}
        What such data have or lack.

    Examples
    --------
    >>> from ecselm.paper.methods import list_methods
    >>> method = list_methods("pairs")[0]
    >>> method == method.name, method.tables
    (True, ('IX',))
    """

    __slots__ = (
        *("aliases", "extra", "grid", "make", "source", "status", "tables", "task"),
        *("twin", "twin_if"),
    )

    task: str
    tables: tuple[str, ...]
    source: str
    status: Status
    make: Callable[..., Any]
    grid: Grid | Callable[[Shape], Grid] | None
    extra: str | None
    aliases: tuple[str, ...]
    twin: str
    twin_if: str

    def __new__(
        cls,
        name: str,
        task: str = "",
        tables: str = "",
        *,
        source: str = "",
        status: Status = "wrapped",
        make: Callable[..., Any] = str,
        grid: Grid | Callable[[Shape], Grid] | None = None,
        extra: str | None = None,
        aliases: tuple[str, ...] = (),
        twin: str = "",
        twin_if: str = "",
    ) -> Method:
        """Record a method; ``tables`` are separated by spaces."""
        self = super().__new__(cls, name)
        self.task, self.tables = task, tuple(tables.split())
        self.source, self.status, self.extra, self.aliases = source, status, extra, aliases
        self.make, self.grid = make, grid
        self.twin, self.twin_if = twin, twin_if
        return self

    @property
    def name(self) -> str:
        """Return the name as a plain string."""
        return str.__str__(self)

    @property
    def footnote(self) -> str:
        """Return what a table should say of its column where ``twin_if`` holds, or "".

        Examples
        --------
        >>> from ecselm.paper.methods import find_method
        >>> find_method("CSPCA-NN").footnote
        'CSPCA-NN: the same as PCA-NN (equal costs)'
        """
        return f"{self.name}: the same as {self.twin} ({self.twin_if})" if self.twin else ""

    def grid_for(self, shape: Shape) -> dict[str, list[Any]]:
        """Return the grid for training data of this shape."""
        return dict((self.grid(shape) if callable(self.grid) else self.grid) or {})

    def estimator(self, params: Mapping[str, Any]) -> Any:
        """Return the estimator with ``params``; raise ValueError for one that it does not have.

        In a pipeline a parameter goes to the step that has it, or to a part of that step.
        """
        own = set(inspect.signature(self.make).parameters)
        made = self._made({name: value for name, value in params.items() if name in own})
        for name, value in params.items():
            if name not in own:
                made.set_params(**{self._full_name(made, name): value})
        return made

    def _made(self, params: Mapping[str, Any]) -> Any:
        try:
            return self.make(**params)
        except ImportError as error:
            raise ImportError(
                f'the method "{self}" needs packages: install the extra "{self.extra}"'
            ) from error

    def _full_name(self, made: Any, name: str) -> str:
        known = made.get_params()
        if name in known:
            return name
        found = [full for full in known if full.endswith(f"__{name}")]
        depth = min((full.count("__") for full in found), default=0)
        found = [full for full in found if full.count("__") == depth]
        if len(found) == 1:
            return found[0]
        names = sorted(found or (full for full in known if not full.endswith("__")))
        rule = "say which of its steps is meant" if found else "be a parameter of it"
        raise ValueError(
            f"each parameter of the method {self.name!r} must {rule}, one of {names}, got {name!r}"
        )

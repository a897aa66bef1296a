"""The tables and figures of the paper, and three more: methods, data and layout of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from ecselm.paper.protocols.access import ACCESS, ACCESS_BY_GUESS, ACCESS_BY_ORDER, ACCESS_BY_TRUTH
from ecselm.paper.protocols.beauty import BEAUTY, CULTURES, SCORES
from ecselm.paper.protocols.faces import FACES, SIMILARITIES, VERIFICATION
from ecselm.paper.protocols.imbalance import CREDIT, GASES, UNEQUAL
from ecselm.paper.protocols.printed import PENALTIES, UNITS, Grid
from ecselm.paper.protocols.protocol import Protocol

ELMS = ("ELM", "KELM", "W1ELM", "W2ELM", "E-ELM")
SUBSPACES = ("PCA-NN", "CSPCA-NN", "LDA-NN", "CSLDA-NN", "LPP-NN", "CSLPP-NN", "CSMFA-NN")
COST_SUBSPACES = ("CSPCA-NN", "CSLDA-NN", "CSLPP-NN", "CSMFA-NN")
SUMMARY = (*COST_SUBSPACES, "ELM", "KELM", "W2ELM", "E-ELM")
REGRESSORS = ("DFAT", "LDFAT", *ELMS)
AS_PRINTED = "ECSELM as printed"
ONE_LAYER = "ECSELM, one layer, validation fitness"
ENSEMBLE = "ECSELM, ensemble"
FORMS = (AS_PRINTED, ONE_LAYER, ENSEMBLE)  # of ECSELM in the tables, the paper's first
LEVELS = ("Facial (G)", "Facial (A)", "Dressing", "Vocal")
Layout = Literal["data", "method", "measure"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A method of an item.

    Parameters
    ----------
    method : str
        Name in the registry.
    fixed : tuple of (str, float)
        Parameters that are set; nothing is tuned then.
    at : str
        Name of these parameters in the results.
    label : str
        Name of the method in the results, where its own does not say which form it is; empty
        is its own.
    params : tuple of (str, object)
        Parameters that are set, in the place of those of the protocol, while others are tuned.
    grid : tuple of (str, tuple)
        Parameters to choose one after the other, in the place of the grid of the registry;
        ``params`` have the values to begin with. Empty is that grid.
    """

    method: str
    fixed: tuple[tuple[str, float], ...] = ()
    at: str = ""
    label: str = ""
    params: tuple[tuple[str, Any], ...] = ()
    grid: Grid = ()

    @property
    def name(self) -> str:
        """Return the name of the method in the results."""
        return self.label or self.method


@dataclass(frozen=True, slots=True)
class Part:
    """Methods on some cases of a protocol, and the metrics that the table shows.

    Parameters
    ----------
    protocol : Protocol
    settings : tuple of Setting
    metrics : tuple of str
        Metrics of the table; the results have all.
    cases : tuple of str or None
        Names of the cases; None is all.
    best_only : bool, default=False
        Take only the first of ``cases`` that has data.
    """

    protocol: Protocol
    settings: tuple[Setting, ...]
    metrics: tuple[str, ...] = ("accuracy",)
    cases: tuple[str, ...] | None = None
    best_only: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """A table or figure of the paper.

    Parameters
    ----------
    name : str
    title : str
    parts : tuple of Part
    rows : {"data", "method", "measure"}
        Rows of the table: data, with a column per method; methods, with a column per data
        set; or measures, with a column per method.
    kind : {"results", "seconds", "tests"}
        Whether the table shows results, times, or tests of the results.
    """

    name: str
    title: str
    parts: tuple[Part, ...]
    rows: Layout = "data"
    kind: Literal["results", "seconds", "tests"] = "results"


def plain(names: Iterable[str]) -> tuple[Setting, ...]:
    """Return methods whose parameters are tuned, or left at their defaults."""
    return tuple(Setting(name) for name in names)


def with_costs(names: Iterable[str], costs: str) -> tuple[Setting, ...]:
    """Return methods whose columns name the costs that they were given."""
    return tuple(Setting(name, label=f"{name}, {costs}") for name in names)


def as_printed(C: int, n_hidden: int) -> Setting:
    """Return ECSELM as printed, with C (by its exponent) and L chosen from there on.

    Inputs are scaled as :meth:`ecselm.ECSELMClassifier.paper` does, whatever the protocol.

    Examples
    --------
    >>> as_printed(20, 200).params[:2]
    (('C', 1048576.0), ('n_hidden', 200))
    """
    params = (("C", 2.0**C), ("n_hidden", n_hidden), ("scale", "minmax"))
    grid: Grid = (("C", PENALTIES), ("n_hidden", UNITS))
    return Setting(AS_PRINTED, params=params, grid=grid)


def forms(C: int, n_hidden: int) -> tuple[Setting, ...]:
    """Return the three forms of ECSELM for classes, C and L being the paper's."""
    return (as_printed(C, n_hidden), *OUR_FORMS)


def varied(C: Iterable[int], n_hidden: Iterable[int], at: str) -> tuple[Setting, ...]:
    """Return the ELMs of figures 11 and 12 for all these values, C by its exponent.

    All have one layer with this C and L. A kernel ELM has no hidden units: only C is set there.

    Examples
    --------
    >>> [one.at for one in varied((0, 5), (300,), "C") if one.method == "ELM"]
    ['C=1', 'C=32']
    """
    return tuple(
        replace(
            setting,
            fixed=(("C", 2.0**p),)
            if setting.method == "KELM"
            else (("C", 2.0**p), ("n_hidden", n)),
            at=f"C={2**p}" if at == "C" else f"L={n}",
        )
        for setting in VARIED
        for p in C
        for n in n_hidden
    )


OUR_FORMS = (Setting("ECSELM, one layer", label=ONE_LAYER), Setting("ECSELM", label=ENSEMBLE))
VARIED = (
    *plain(("ELM", "KELM", "W2ELM", "E-ELM")),
    Setting(AS_PRINTED, params=(("scale", "minmax"),)),
    OUR_FORMS[0],
)
# C and L of section VIII, where there are any; M2B has none.
BEAUTY_FORMS, PAIR_FORMS, GAS_FORMS = forms(5, 100), forms(10, 100), forms(20, 200)
# Section V.A takes the kernel form for AR. It has no L, and the paper gives no width.
FACE_FORMS = (
    Setting(AS_PRINTED, params=(("C", 2.0**5), ("kernel", "rbf")), grid=(("C", PENALTIES),)),
    *OUR_FORMS,
)
SCORE_FORMS = (as_printed(5, 100), Setting("ECSELM", label=ONE_LAYER))  # no ensemble for scores


def lines(*names: str, cultures: tuple[str, ...] = ("E", "W")) -> tuple[str, ...]:
    """Return the names of cases of M2B."""
    return tuple(f"{name}, {culture}" for name in names for culture in cultures)


def _beauty(name: str, title: str, methods: Iterable[str], cases: tuple[str, ...]) -> Item:
    return Item(name, title, (Part(BEAUTY, (*plain(methods), *BEAUTY_FORMS), cases=cases),))


def _cumulative(name: str, feature: str) -> Item:
    cases = lines(feature, cultures=("E", "W", "E+W"))
    settings = (*plain((*ELMS, *SUBSPACES)), *BEAUTY_FORMS)
    title = f"Cumulative scores of attractiveness, {feature}"
    return Item(name, title, (Part(BEAUTY, settings, ("cum_score",), cases),), "measure")


def _one(
    name: str,
    title: str,
    protocol: Protocol,
    settings: tuple[Setting, ...],
    metrics: tuple[str, ...] = ("accuracy",),
    rows: Layout = "data",
) -> Item:
    return Item(name, title, (Part(protocol, settings, metrics),), rows)


_AR_COST = ("CSPCA-NN", "CSLPP-NN", "CSMFA-NN", "CSLDA-NN", "ELM", "KELM", "W2ELM", "E-ELM")
_AR_OTHERS = ("NN", "NS", "SVM", "CISVM", "mckNN", "mcSVM", "mcKLR")
_METRIC_LEARNERS = (
    Setting("SILD"),
    Setting("ITML", (("slack", 1.0),)),  # set, as below: tuning would take longer than all else
    Setting("LDML"),
    Setting("CSML", (("beta", 10.0),)),
    Setting("KISSME"),
    Setting("DML-eig", (("smoothing", 1e-3),)),
    Setting("LMLML", (("n_regions", 2),)),
    Setting("SubSML"),
)
_GAS_OTHERS = ("SVM", "PCA-SVM", "KSVM", "LDA", "PCA-LDA", "PLS-DA", "KLDA", "KPLS-DA", "CISVM")
_GAS_RATES = ("recall", "arr", "trr")
_SUMMED = (
    Part(
        BEAUTY,
        (*plain(SUMMARY), *BEAUTY_FORMS),
        cases=lines("Facial (A)", "Dressing", "Vocal", cultures=("E",)),
    ),
    Part(FACES, (*plain(SUMMARY), *FACE_FORMS), cases=("AR",)),
    Part(
        SIMILARITIES,
        (*plain(SUMMARY), *PAIR_FORMS),
        cases=("LFW, SIFT", "LFW, LBP"),
        best_only=True,
    ),
    Part(GASES, (*plain(SUMMARY), *GAS_FORMS), ("arr",), ("E-NOSE",)),
)
_ACCESS_METRICS = ("mean_cost", "savings", "let_in", "rejected", "confused")
_NEED_COSTS = ("mcKLR", "CSLDA-NN")
_ACCESS_PARTS = (
    Part(ACCESS, plain(("ELM", "W1ELM", "KELM", "W1KELM")), _ACCESS_METRICS),
    Part(ACCESS_BY_ORDER, with_costs(("ECSELM", *_NEED_COSTS), "order"), _ACCESS_METRICS),
    Part(ACCESS_BY_GUESS, with_costs(_NEED_COSTS, "guess"), _ACCESS_METRICS),
    *(
        Part(protocol, with_costs(("ECSELM", *_NEED_COSTS), "truth"), _ACCESS_METRICS)
        for protocol in ACCESS_BY_TRUTH
    ),
)
_C, _L = (0, 5, 10, 20, 30), UNITS

_ALL = (
    _beauty("table-1", "Attractiveness, machines", ELMS, lines(*LEVELS)),
    _beauty("table-2", "Attractiveness, subspaces", SUBSPACES, lines(*LEVELS)),
    _beauty(
        "table-3",
        "Attractiveness, other classifiers",
        ("kNN", "SVM", "LSSVM", "CISVM", "CSOR"),
        lines(*LEVELS[1:]),
    ),
    _one(
        "table-4",
        "Scores of attractiveness, mean absolute error",
        SCORES,
        (*plain(("NN", "Ridge", "Neural Network", *REGRESSORS)), *SCORE_FORMS),
        ("mae",),
        "method",
    ),
    _one(
        "table-5",
        "Scores across cultures, error",
        CULTURES,
        (*plain(REGRESSORS), *SCORE_FORMS),
        ("mae",),
        "method",
    ),
    _one(
        "table-6",
        "Faces, machines and subspaces",
        FACES,
        (*plain((*_AR_COST, "CSELM")), *FACE_FORMS),
    ),
    _one(
        "table-7",
        "Faces, other classifiers",
        FACES,
        # The kernel with validation fitness is not in the paper.
        (*plain((*_AR_OTHERS, "kernel ECSELM")), *FACE_FORMS),
    ),
    _one(
        "table-8",
        "Verification, classifiers of similarities",
        SIMILARITIES,
        (*plain(SUMMARY), *PAIR_FORMS),
    ),
    Item(
        "table-9",
        "Verification, metrics",
        (Part(VERIFICATION, _METRIC_LEARNERS), Part(SIMILARITIES, PAIR_FORMS)),
    ),
    _one(
        "table-10",
        "Gases, subspaces and machines",
        GASES,
        (*plain((*SUBSPACES, *ELMS)), *GAS_FORMS),
        _GAS_RATES,
        "measure",
    ),
    _one(
        "table-11",
        "Gases, other classifiers",
        GASES,
        (*plain((*_GAS_OTHERS, "CSELM", "kernel ECSELM")), *GAS_FORMS),
        _GAS_RATES,
        "measure",
    ),
    Item("table-12", "All data in one table", _SUMMED),
    Item(
        "table-13", f"Tests on table XII, each method against {AS_PRINTED}", _SUMMED, kind="tests"
    ),
    Item(
        "table-14",
        "Seconds to learn and to answer, one fold of LFW, its similarities given",
        (Part(SIMILARITIES, (*plain(SUMMARY), *PAIR_FORMS), ("seconds",)),),
        kind="seconds",
    ),
    _cumulative("figure-3", "Facial (A)"),
    _cumulative("figure-4", "Dressing"),
    _cumulative("figure-5", "Vocal"),
    _one(
        "figure-6",
        "Cumulative scores of faces",
        FACES,
        (*plain((*_AR_COST, "CSELM", *_AR_OTHERS[:3], *_AR_OTHERS[4:])), *FACE_FORMS),
        ("cum_score",),
        "measure",
    ),
    _one(
        "figure-8",
        "ROC and AUC of pairs",
        SIMILARITIES,
        (*plain(SUMMARY), *PAIR_FORMS),
        ("auc", "tpr"),
        "measure",
    ),
    _one(
        "figure-9",
        "Confusion of gases",
        GASES,
        (*plain(SUMMARY), *GAS_FORMS),
        ("confusion",),
        "measure",
    ),
    Item(
        "figure-10",
        "Confusion of levels of attractiveness",
        (Part(BEAUTY, (*plain(ELMS), *BEAUTY_FORMS), ("confusion",), _SUMMED[0].cases),),
        "measure",
    ),
    Item(
        "figure-11",
        "Sensitivity to C",
        (
            Part(FACES, varied(_C, (300,), "C")),
            Part(SIMILARITIES, varied(_C, (100,), "C")),
            Part(GASES, varied(_C, (200,), "C")),
        ),
        "measure",
    ),
    Item(
        "figure-12",
        "Sensitivity to the number of hidden units",
        (
            Part(FACES, varied((5,), _L, "L")),
            Part(SIMILARITIES, varied((10,), _L, "L")),
            Part(GASES, varied((20,), _L, "L")),
        ),
        "measure",
    ),
    _one(
        "keel",
        "Unequal classes, geometric mean of recalls (not in the paper)",
        UNEQUAL,
        (
            *plain((*ELMS, "CSELM", "kNN", "balanced SVC", "balanced logistic regression")),
            *OUR_FORMS,
        ),
        ("gmean",),
    ),
    _one(
        "credit",
        "German credit at 5 to 1, mean cost (not in the paper)",
        CREDIT,
        (
            *plain((*ELMS, "CSELM", "CISVM", "mckNN", "mcSVM", "mcKLR")),
            *plain(("balanced logistic regression",)),
            *OUR_FORMS,
        ),
        ("mean_cost", "savings", "accuracy"),
        "measure",
    ),
    Item("access", "Access control by face (not in the paper)", _ACCESS_PARTS, "measure"),
)
ITEMS = {item.name: item for item in _ALL}


def find_item(name: str) -> Item:
    """Return a table or figure by its name.

    Examples
    --------
    >>> find_item("table-13").kind
    'tests'
    """
    if name not in ITEMS:
        raise ValueError(f"item must be one of {', '.join(ITEMS)} or all, got {name!r}")
    return ITEMS[name]

"""Methods for pairs by name: metric learners, and classifiers of five similarities."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm.paper.methods.classification import ELM_METHODS, SUBSPACE_METHODS
from ecselm.paper.methods.method import Method
from ecselm.paper.pairs import (
    CSML,
    ITML,
    KISSME,
    LDML,
    LMLML,
    SILD,
    DMLEig,
    PairSimilarities,
    SubSML,
)

PAIRS = partial(Method, task="pairs")
RIDGES = [1e-2, 0.1, 1.0, 10.0]
VERIFICATION = "VIII"  # the table whose columns are classifiers of the five similarities


def of_similarities(kind: Any) -> Pipeline:
    """Return a classifier of this kind on the five similarities, standardised."""
    return make_pipeline(PairSimilarities(), StandardScaler(), kind())


def on_pairs(method: Method) -> Method:
    """Return a classifier for pairs, as in section V.B."""
    return PAIRS(
        method.name,
        tables="VIII IX" if method.startswith("ECSELM") else VERIFICATION,
        source=f"{method.source}; on the five similarities of section V.B",
        status="substitute",
        make=partial(of_similarities, method.make),
        aliases=method.aliases,
        twin=method.twin,
        twin_if=method.twin_if,
    )


METHODS = (
    PAIRS(
        "SILD",
        tables="IX",
        source="Kan et al., BMVC 2011, from memory",
        status="substitute",
        make=SILD,
        grid={"reg": RIDGES},
    ),
    PAIRS(
        "ITML",
        tables="IX",
        source="Davis et al., ICML 2007",
        status="exact",
        make=ITML,
        grid={"slack": [0.01, 0.1, 1.0, 10.0]},
    ),
    PAIRS(
        "LDML",
        tables="IX",
        source="Guillaumin, Verbeek and Schmid, ICCV 2009",
        status="exact",
        make=LDML,
        grid={"max_iter": [2, 4, 10, 30, 100]},
    ),
    PAIRS(
        "CSML",
        tables="IX",
        source="Nguyen and Bai, ACCV 2010; one round of its outer search",
        status="substitute",
        make=CSML,
        grid={"beta": [0.03, 0.1, 1.0, 10.0]},
    ),
    PAIRS(
        "KISSME",
        tables="IX",
        source="Köstinger et al., CVPR 2012",
        status="exact",
        make=KISSME,
        grid={"reg": RIDGES},
    ),
    PAIRS(
        "DML-eig",
        tables="IX",
        source="Ying and Li, JMLR 13, 2012",
        status="exact",
        make=DMLEig,
        grid={"smoothing": [1e-3, 1e-2, 0.1, 1.0]},
    ),
    PAIRS(
        "LMLML",
        tables="IX",
        source="after the abstract of Bohné et al., ECCV 2014",
        status="substitute",
        make=LMLML,
        grid={"n_regions": [0, 2, 5], "global_decay": [1.0, 10.0]},
    ),
    PAIRS(
        "SubSML",
        tables="IX",
        source="Cao, Ying and Li, ICCV 2013, and the authors' demo",
        status="exact",
        make=SubSML,
        grid={"gamma": [1.0, 10.0, 100.0, 1000.0]},
        aliases=("Sub-SML",),
    ),
    PAIRS(
        "five similarities",
        tables=VERIFICATION,
        source="section V.B, which leaves spaces and signs open; logistic regression on them",
        status="substitute",
        make=partial(of_similarities, LogisticRegression),
        aliases=("PairSimilarities",),
    ),
    *(
        on_pairs(method)
        for method in (*ELM_METHODS, *SUBSPACE_METHODS)
        if VERIFICATION in method.tables
    ),
)

"""Whole pipelines: columns, words, missing values and searches of costs."""

import numpy as np
import pandas as pd
import pytest
import skl2onnx
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.ensemble import VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from ecselm import CostSearchCV, CSELMClassifier, ECSELMClassifier, ELMClassifier, ELMRegressor
from ecselm.onnx import to_onnx
from tests.onnx.agreement import N_ROWS, TOLERANCE, assert_agrees, fed, outputs, rows_beyond

SHORT = {"population_size": 3, "max_epochs": 0, "fitness": "holdout", "random_state": 0}
TEXT = ("Größe", "city of birth")
NUMBERS = ["age", "0 weight (kg)"]


def table(n_rows, rng, reach=1.0, unseen=False):
    """Return rows of numbers and words, some of them missing."""
    words = ["klein", "groß", "réel"] + (["niegesehen"] if unseen else [])
    cities = ["Genève", "Zürich", "Zürich", "Ulm", "Ulm"] + (["東京"] if unseen else [])
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 10 * reach, n_rows),
            "Größe": rng.choice(words, n_rows),
            "0 weight (kg)": rng.normal(70, 12 * reach, n_rows),
            "city of birth": rng.choice(cities, n_rows),
            "sons": rng.integers(0, 4, n_rows),
        }
    )
    for name in ("age", "Größe", "city of birth"):
        frame.loc[rng.random(n_rows) < 0.1, name] = np.nan
    return frame


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    X = table(150, rng)
    risk = X["age"].fillna(50) / 20 + (X["Größe"] == "klein") + rng.normal(0, 0.5, 150)
    y = np.where(risk > risk.median(), "gefährdet", "gesund")
    return X, y, risk, table(N_ROWS, rng, reach=3.0, unseen=True)


def numbers_pipeline(*, add_indicator=True):
    imputer = SimpleImputer(strategy="median", add_indicator=add_indicator)
    return make_pipeline(imputer, StandardScaler())


def preparation(encoder):
    return ColumnTransformer(
        [
            ("numbers", numbers_pipeline(), NUMBERS),
            ("names", encoder, list(TEXT)),
            ("counts", "passthrough", ["sons"]),
        ]
    )


@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(handle_unknown="ignore"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=40),
        OneHotEncoder(handle_unknown="ignore", drop="first"),
        OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=2),
        make_pipeline(
            SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
        ),
        make_pipeline(
            SimpleImputer(strategy="constant", fill_value="fehlt"),
            OneHotEncoder(handle_unknown="ignore"),
        ),
        OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2
        ),
    ],
    ids=[
        "one-hot",
        "dense",
        "infrequent",
        "dropped",
        "at most two",
        "most frequent",
        "constant",
        "ordinal",
    ],
)
@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_pipeline_with_words_and_missing_values_agrees(people, encoder):
    X, y, _, R = people
    model = make_pipeline(preparation(encoder), ELMClassifier(20, random_state=0)).fit(X, y)
    found = assert_agrees(model, R, fed(R, TEXT))
    assert set(found) == {"label", "scores", "probabilities"}
    assert set(found["label"]) == {"gefährdet", "gesund"}


def test_ensemble_behind_a_table_agrees(people):
    X, y, _, R = people
    encoder = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5)
    model = make_pipeline(
        preparation(encoder), ECSELMClassifier(20, **{**SHORT, "fitness": "auto"})
    ).fit(X, y)
    assert_agrees(model, R, fed(R, TEXT))


def test_regressor_behind_a_table_agrees(people):
    X, _, risk, R = people
    encoder = OneHotEncoder(handle_unknown="ignore")
    model = make_pipeline(preparation(encoder), ELMRegressor(20, random_state=0)).fit(X, risk)
    assert set(assert_agrees(model, R, fed(R, TEXT))) == {"variable"}


def test_encoders_of_numbers_agree(people):
    X, y, _, R = people
    before = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["sons"]),
        (SimpleImputer(strategy="mean"), NUMBERS),
    )
    model = make_pipeline(before, ELMClassifier(20, random_state=0))
    names = [*NUMBERS, "sons"]
    assert_agrees(model.fit(X[names], y), R[names], fed(R[names]))


@pytest.mark.parametrize("missing", [np.nan, -1.0])
def test_frame_of_numbers_is_joined(people, missing):
    X, y, _, R = (one[NUMBERS] if isinstance(one, pd.DataFrame) else one for one in people)
    X, R = (one.fillna(missing) for one in (X, R))
    imputer = SimpleImputer(missing_values=missing, add_indicator=True)
    model = make_pipeline(imputer, MinMaxScaler(), CSELMClassifier(20, random_state=0))
    assert_agrees(model.fit(X, y), R, fed(R))


def test_estimator_of_a_frame_has_an_input_per_column(people):
    X, y, _, R = (one[NUMBERS] if isinstance(one, pd.DataFrame) else one for one in people)
    X, R = X.fillna(50.0), R.fillna(50.0)
    assert_agrees(ELMClassifier(20, random_state=0).fit(X, y), R, fed(R))


def test_columns_by_number_agree(people):
    X, y, _, R = people
    before = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), [1, 3]), (numbers_pipeline(), [0, 2])
    )
    model = make_pipeline(before, ELMClassifier(20, random_state=0))
    model.fit(X.to_numpy(dtype=object), y)
    inputs = {f"x{j}": one for j, one in enumerate(fed(R, TEXT).values())}
    assert_agrees(model, R.to_numpy(dtype=object), inputs)


def test_columns_without_names_are_called_as_stated():
    X = np.random.default_rng(0).standard_normal((60, 2))
    model = ELMClassifier(10, random_state=0).fit(X, X[:, 0] > 0)
    R = rows_beyond(X)
    columns = {"left": "number", "right": "number"}
    assert_agrees(model, R, {"left": R[:, :1], "right": R[:, 1:]}, columns=columns)


def test_best_of_a_grid_search_is_exported(people):
    X, y, _, R = (one[NUMBERS] if isinstance(one, pd.DataFrame) else one for one in people)
    X, R = X.fillna(50.0), R.fillna(50.0)
    search = GridSearchCV(ELMClassifier(20, random_state=0), {"C": [1.0, 32.0]}, cv=3).fit(X, y)
    assert_agrees(search, R, fed(R))


INSIDE = [
    ELMClassifier(20, random_state=0),
    make_pipeline(StandardScaler(), LogisticRegression()),
    GaussianNB(),
    DecisionTreeClassifier(max_depth=4, random_state=0),
]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("level", ["class", "decision"])
@pytest.mark.parametrize("estimator", INSIDE, ids=lambda one: type(one).__name__)
def test_cost_search_agrees(estimator, level, n_classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4)).astype(np.float32).astype(np.float64)
    y = np.array(["gelb", "grün", "rot"])[
        np.digitize(X[:, 0] + X[:, 1] ** 2, [0.5, 2.0][: n_classes - 1])
    ]
    search = CostSearchCV(estimator, cost_level=level, **SHORT).fit(X, y)
    # Trees of scikit-learn compare in float32, and those of skl2onnx return it.
    R = rows_beyond(X).astype(np.float32).astype(np.float64)
    has_trees = isinstance(estimator, DecisionTreeClassifier)
    found = assert_agrees(search, R, tolerance=1e-5 if has_trees else TOLERANCE)
    with_scores = level == "decision" or isinstance(estimator, ELMClassifier)
    assert set(found) == {"label", "probabilities"} | ({"scores"} if with_scores else set())


def test_cost_search_around_a_table_agrees(people):
    X, y, _, R = people
    before = preparation(OneHotEncoder(handle_unknown="ignore"))
    model = make_pipeline(before, ELMClassifier(20, random_state=0))
    search = CostSearchCV(model, scoring="f1_macro", **SHORT).fit(X, y)
    assert_agrees(search, R, fed(R, TEXT))


def test_missing_and_empty_words_cannot_be_told_apart(people):
    X, y = people[0].assign(Größe=lambda X: X["Größe"].replace("klein", "")), people[1]
    before = preparation(OneHotEncoder(handle_unknown="ignore"))
    model = make_pipeline(before, ELMClassifier(5, random_state=0)).fit(X, y)
    with pytest.raises(ValueError, match="categories must be different words"):
        to_onnx(model)


def test_other_converters_of_skl2onnx_know_the_family():
    X = np.random.default_rng(0).standard_normal((60, 3))
    voters = [(str(seed), ELMClassifier(10, random_state=seed)) for seed in range(2)]
    model = VotingClassifier(voters, voting="soft", flatten_transform=False)
    model.fit(X, np.where(X[:, 0] > 0, "oui", "non"))
    graph = skl2onnx.to_onnx(model, X[:1], options={"zipmap": False})
    R = rows_beyond(X)
    assert (outputs(graph, {"X": R})["label"] == model.predict(R)).all()


def test_cost_search_without_probabilities_gives_labels():
    X = np.random.default_rng(0).standard_normal((60, 3))
    search = CostSearchCV(Perceptron(), cost_level="class", **SHORT).fit(X, X[:, 0] > 0.2)
    assert set(assert_agrees(search, rows_beyond(X))) == {"label"}

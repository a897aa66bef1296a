"""What scikit-learn's users expect of estimators beside fit and predict."""

import inspect
import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags

import ecselm
from tests.docs.test_reference import PUBLIC

ROOT = Path(__file__).parents[1]


def made(name):
    cls = getattr(ecselm, name)
    around = "estimator" in inspect.signature(cls).parameters
    return cls(LogisticRegression()) if around else cls()


@pytest.mark.parametrize("name", ecselm.__all__)
def test_the_html_representation_links_to_the_documentation(name):
    link = f"https://ecselm.github.io/ecselm/api/ecselm.{name}.html"
    assert made(name)._get_doc_link() == link
    assert link in made(name)._repr_html_()


def test_a_subclass_of_the_user_has_no_page():
    class Mine(ecselm.ELMClassifier):
        pass

    assert Mine()._get_doc_link() == ""


def test_links_are_those_of_the_project():
    if not (ROOT / "pyproject.toml").exists():
        pytest.skip("needs the source tree")
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    assert ecselm.ELMClassifier._doc_link_template.startswith(urls["Documentation"] + "/")


@pytest.mark.parametrize("name", ecselm.__all__)
def test_tags_say_what_an_estimator_is(name):
    tags = get_tags(made(name))
    assert is_classifier(made(name)) == ("Regressor" not in name)
    assert is_regressor(made(name)) == ("Regressor" in name)
    assert tags.target_tags.required


def public_estimators():
    for package in PUBLIC:
        for name in import_module(package).__all__:
            one = getattr(import_module(package), name)
            if inspect.isclass(one) and issubclass(one, BaseEstimator):
                yield one


TRANSFORMERS = [
    one
    for one in public_estimators()
    if hasattr(one, "transform") and ".pairs." not in one.__module__  # fitted to pairs of rows
]


def test_there_are_transformers():
    assert len(TRANSFORMERS) >= 9


@pytest.mark.parametrize("cls", TRANSFORMERS, ids=lambda cls: cls.__name__)
def test_transformers_name_their_columns(cls, rng):
    pd = pytest.importorskip("pandas")
    y = np.repeat([0, 1, 2], 10)
    X = pd.DataFrame(rng.standard_normal((30, 6)) + y[:, np.newaxis], columns=list("abcdef"))
    model = cls().set_output(transform="pandas").fit(X, y)
    frame = model.transform(X)
    assert list(frame.columns) == list(model.get_feature_names_out())
    assert len(frame) == 30

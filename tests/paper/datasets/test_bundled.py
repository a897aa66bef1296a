import numpy as np
import pytest
from sklearn import datasets as theirs

from ecselm.paper.datasets import list_bundled, load_bundled

SHAPES = {
    "breast_cancer": ((569, 30), [212, 357]),
    "diabetes": ((442, 10), []),
    "digits": ((1797, 64), [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]),
    "iris": ((150, 4), [50, 50, 50]),
    "wine": ((178, 13), [59, 71, 48]),
}


@pytest.fixture(autouse=True)
def without_folder(monkeypatch):
    monkeypatch.delenv("ECSELM_DATA", raising=False)


def test_every_listed_set_is_among_those_tested_here():
    assert list_bundled() == sorted(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
def test_rows_labels_and_names_are_those_of_scikit_learn(name):
    data, bundle = load_bundled(name), getattr(theirs, f"load_{name}")()
    np.testing.assert_array_equal(data.X, bundle.data)
    np.testing.assert_array_equal(data.y, bundle.target)
    assert data.feature_names == tuple(bundle.feature_names)
    assert (data.X.shape, data.counts.tolist()) == SHAPES[name]


@pytest.mark.parametrize("name", SHAPES)
def test_source_is_one_sentence_with_the_terms(name):
    data = load_bundled(name)
    assert "scikit-learn" in data.source
    assert "terms: none stated" in data.source
    assert data.source.endswith(".")
    assert not data.synthetic
    assert data.summary().startswith(f"{name}: ")


def test_classes_have_names_where_the_labels_do_not_say_it():
    assert load_bundled("breast_cancer").class_names == ("malignant", "benign")
    assert load_bundled("digits").class_names == ()


def test_scores_have_no_classes():
    data = load_bundled("diabetes")
    assert data.classes is None
    assert (data.y.min(), data.y.max()) == (25.0, 346.0)


def test_every_call_returns_rows_of_its_own():
    load_bundled("iris").X[:] = 0.0
    assert load_bundled("iris").X.min() > 0


@pytest.mark.parametrize("name", ["Iris", "linnerud", "", None])
def test_unknown_name_is_refused_in_one_sentence(name):
    with pytest.raises(ValueError, match=r"^name must be one of breast_cancer, .*, wine, got"):
        load_bundled(name)

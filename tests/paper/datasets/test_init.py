import pytest

from ecselm.paper import datasets

LOADERS = {
    "load_ar": (),
    "load_bank_marketing": (),
    "load_enose": (),
    "load_gas": (),
    "load_german": (),
    "load_keel": ("pima",),
    "load_lfw": (),
    "load_lfw_metrics": (),
    "load_lfw_pairs": (),
    "load_m2b": (),
    "load_olivetti": (),
    "load_ordinal": ("ESL",),
    "load_scut": (),
    "load_uci121": ("iris",),
}


def test_every_loader_is_among_those_tested_here():
    loaders = {name for name in datasets.__all__ if name.startswith("load_")}
    assert loaders - {"load_bundled"} == set(LOADERS)  # which needs no folder


@pytest.mark.parametrize("name", LOADERS)
def test_missing_file_says_where_to_get_it_and_under_what_terms(name, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"is missing.*Get it from .*terms: .+\)$"):
        getattr(datasets, name)(*LOADERS[name], folder=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", sorted(LOADERS))
def test_real_loads_write_nothing_and_give_their_source(name, data_folder):
    before = sorted(data_folder.rglob("*"))
    try:
        data = getattr(datasets, name)(*LOADERS[name], folder=data_folder)
    except FileNotFoundError:
        pytest.skip("the folder does not hold it")
    assert sorted(data_folder.rglob("*")) == before
    assert "terms:" in data.source
    assert not data.synthetic
    assert str(data_folder) not in data.source

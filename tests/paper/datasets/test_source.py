import pytest

from ecselm.paper.datasets.dataset import Source, find_file

TOY = Source("toy", "A toy by Alice", "https://toys.example", "play only")


def test_argument_goes_before_the_environment(tmp_path, monkeypatch):
    for name in ("one", "two"):
        (tmp_path / name / "toy").mkdir(parents=True)
        (tmp_path / name / "toy" / "a.csv").touch()
    monkeypatch.setenv("ECSELM_DATA", str(tmp_path / "one"))
    assert find_file(TOY, "a.csv") == tmp_path / "one" / "toy" / "a.csv"
    assert find_file(TOY, "a.csv", tmp_path / "two") == tmp_path / "two" / "toy" / "a.csv"


def test_missing_file_says_which_where_to_get_it_and_the_terms(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        find_file(TOY, "a.csv", tmp_path)
    for part in ("a.csv", "https://toys.example", "A toy by Alice", "play only"):
        assert part in str(caught.value)


def test_without_folder_the_error_says_how_to_name_one(monkeypatch):
    monkeypatch.delenv("ECSELM_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"argument folder or .*ECSELM_DATA"):
        find_file(TOY, "a.csv")

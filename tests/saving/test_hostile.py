"""Files from strangers: refused in one sentence, and nothing in them is executed."""

import contextlib
import io
import pickle
import re
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest
import skops.io
from scipy import sparse

from ecselm import KELMClassifier
from ecselm.saving import archive, load_model, save_model
from ecselm.saving.archive import CARD, HEADER, SCHEMA, packed, unpacked
from tests.saving.forged import attributes, forge, json_node, node, put, tuple_node, zipped

NOTHING = node("TupleNode", "builtins.tuple", content=[])


def called(command):
    """Return objects that have skops call something when it makes them."""
    code = f"__import__('os').system({command!r})"
    text = json_node(command)
    keys = node("ListNode", "builtins.list", content=[node("TypeNode", "builtins.eval")])
    return {
        "constructor": node("ConstructorFromReduceNode", "os.system", content=tuple_node(command)),
        "process": node(
            "ConstructorFromReduceNode",
            "subprocess.check_call",
            content=tuple_node(["sh", "-c", command]),
        ),
        "key": node("DictNode", "builtins.dict", content={code: text}, key_types=keys),
        "loss": node(
            "LossNode",
            "os.system",
            content=node("DictNode", "builtins.dict", content={}, key_types=NOTHING),
            __reduce__={"args": tuple_node(command)},
        ),
    }


def held():
    """Return objects that could be called later, or by the ways of other loaders."""
    system = node("FunctionNode", "os.system")
    return {
        "os.system": system,
        "builtins.eval": node("TypeNode", "builtins.eval"),
        "subprocess.Popen": node("ObjectNode", "subprocess.Popen"),
        "functools.partial": node(
            "PartialNode",
            "functools.partial",
            content={"func": system, "args": NOTHING, "kwds": NOTHING, "namespace": NOTHING},
        ),
        "operator.methodcaller": node(
            "OperatorFuncNode", "operator.methodcaller", attrs=tuple_node("fit")
        ),
        "numpy.tanh": node("FunctionNode", "numpy.tanh"),
        "ecselm.layers.activations.radbas": node(
            "FunctionNode", "ecselm.layers.activations.radbas"
        ),
        "ecselm.estimators.elm.ELMClassifier": node(
            "ListNode", "ecselm.estimators.elm.ELMClassifier", content=[]
        ),
        "ecselm.estimators.elm.KELMClassifier": node(
            "MethodNode",
            "ecselm.estimators.elm.KELMClassifier",
            content={
                "func": "fit",
                "obj": node("ObjectNode", "ecselm.estimators.elm.KELMClassifier"),
            },
        ),
        "ecselm.estimators._checkpoint.Checkpoint": node(
            "ObjectNode", "ecselm.estimators._checkpoint.Checkpoint"
        ),
        "sklearn.neighbors._kd_tree.KDTree": node(
            "ObjectNode", "sklearn.neighbors._kd_tree.KDTree"
        ),
        "sklearn.utils._bunch.Bunch": node(
            "DictNode", "sklearn.utils._bunch.Bunch", content={}, key_types=NOTHING
        ),
        "numpy.random._generator.Generator": node(
            "RandomGeneratorNode",
            "numpy.random._generator.Generator",
            content={
                "bit_generator": node(
                    "DictNode",
                    "builtins.dict",
                    content={"bit_generator": json_node("seed")},
                    key_types=NOTHING,
                ),
                "seed_seq": NOTHING,
            },
        ),
    }


@pytest.mark.parametrize("way", called(""))
def test_weapons_are_loaded_for_who_trusts_them(path, tmp_path, way):
    mark = tmp_path / "ran"
    put(path, called(f"touch {mark}")[way])
    content = path.read_bytes()
    trusted = skops.io.get_untrusted_types(data=content)
    with contextlib.suppress(Exception):  # some fail after the shot
        skops.io.loads(content, trusted=trusted)
    assert mark.exists()


@pytest.mark.parametrize("way", called(""))
def test_nothing_is_called(path, tmp_path, way):
    mark = tmp_path / "ran"
    put(path, called(f"touch {mark}")[way])
    with pytest.raises(ValueError, match=r"what no model is made of, .*(system|call|eval)"):
        load_model(path)
    assert not mark.exists()


@pytest.mark.parametrize("place", ["root", "attribute", "beside"])
def test_nothing_is_called_wherever_it_stands(path, tmp_path, place):
    mark = tmp_path / "ran"
    weapon = called(f"touch {mark}")["constructor"]

    def change(schema):
        if place == "root":
            schema.update(weapon)
        elif place == "attribute":
            attributes(schema)["layer_"]["content"]["content"].append(weapon)
        else:
            schema["unread"] = [{"deep": weapon}]

    forge(path, change)
    with pytest.raises(ValueError, match=r"os\.system"):
        load_model(path)
    assert not mark.exists()


@pytest.mark.parametrize("name", held())
def test_types_and_functions_off_the_list_are_named(path, name):
    put(path, held()[name])
    with pytest.raises(ValueError, match=re.escape(name)):
        load_model(path)


def test_all_that_is_refused_is_named(path):
    def change(schema):
        attributes(schema)["a"] = held()["os.system"]
        attributes(schema)["b"] = held()["builtins.eval"]

    forge(path, change)
    with pytest.raises(ValueError, match=r"builtins\.eval, os\.system"):
        load_model(path)


@pytest.mark.parametrize("protocol", [0, 1, True, "2", None, 10**6])
def test_other_protocols_of_skops_are_refused(path, protocol):
    forge(path, lambda schema: schema.update(protocol=protocol))
    with pytest.raises(ValueError, match="protocol"):
        load_model(path)


@pytest.mark.parametrize("part", [json_node({"a": 1}), NOTHING])
def test_what_is_no_estimator_is_refused(path, part):
    def change(schema):
        schema.update({key: value for key, value in part.items() if key != "protocol"})

    forge(path, change)
    with pytest.raises(ValueError, match="path must be a model"):
        load_model(path)


def test_parts_missing_are_refused(path):
    def change(schema):
        attributes(schema)["layer_"]["content"]["content"].pop()

    forge(path, change)
    with pytest.raises(ValueError, match="path must be a model"):
        load_model(path)


@pytest.mark.parametrize("content", [b"", b"PK", b"model", b"PK\x03\x04" + bytes(100)])
def test_what_is_no_archive_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"path must be a model that save_model has written"):
        load_model(path)


def test_truncated_files_are_refused(path):
    content = path.read_bytes()
    for size in range(1, len(content), len(content) // 20):
        path.write_bytes(content[:size])
        with pytest.raises(ValueError, match="path must be a model"):
            load_model(path)


@pytest.mark.filterwarnings("ignore")  # zip archives warn of what they find odd
def test_damaged_files_are_refused_or_harmless(path, rng):
    content = np.frombuffer(path.read_bytes(), np.uint8)
    refused = []
    for place in rng.integers(len(content), size=40):
        damaged = content.copy()
        damaged[place] ^= 1 << rng.integers(8)
        path.write_bytes(damaged.tobytes())
        try:
            load_model(path)
        except ValueError as error:
            refused.append(str(error))
    assert len(refused) > 30
    assert not any("\n" in sentence for sentence in refused)


@pytest.mark.parametrize("missing", ["header", "schema", "array"])
def test_missing_entries_are_refused(path, missing):
    entries = unpacked(path.read_bytes())
    array = next(name for name in entries if name.endswith(".npy"))
    del entries[{"header": HEADER, "schema": SCHEMA, "array": array}[missing]]
    path.write_bytes(packed(entries))
    with pytest.raises(ValueError, match="path must be a model"):
        load_model(path)


def test_texts_that_unpack_to_too_much_are_refused_unread(path, monkeypatch):
    monkeypatch.setattr(archive, "TEXT_LIMIT", 100_000)
    entries = unpacked(path.read_bytes())
    zipped(path, {**entries, CARD: bytes(10**6)}, ZIP_STORED)
    with pytest.raises(ValueError, match="must have at most 100000 bytes, got 1000000"):
        load_model(path)


def test_texts_that_unpack_to_more_than_they_say_are_refused(path):
    content = packed({**unpacked(path.read_bytes()), CARD: b"{}" + bytes(10**6)})
    said = (10**6 + 2).to_bytes(4, "little")
    assert content.count(said) == 2
    path.write_bytes(content.replace(said, (2).to_bytes(4, "little")))
    with pytest.raises(ValueError, match="Bad CRC"):
        load_model(path)


def test_compressed_arrays_are_refused(path):
    zipped(path, unpacked(path.read_bytes()), ZIP_DEFLATED)
    with pytest.raises(ValueError, match="must not be compressed"):
        load_model(path)


def test_entries_given_twice_are_refused(path):
    entries = unpacked(path.read_bytes())
    path.write_bytes(packed(entries))
    with ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr(SCHEMA, entries[SCHEMA])
    with pytest.raises(ValueError, match="must not overlap"):
        load_model(path)


def test_compressed_matrices_are_refused(tmp_path, rng):
    X = sparse.csr_array(rng.standard_normal((20, 3)))
    path = tmp_path / "model.skops"
    save_model(KELMClassifier().fit(X, np.arange(20) % 2), path)
    entries = unpacked(path.read_bytes())
    name = next(name for name in entries if name.endswith(".npz"))
    buffer = io.BytesIO()
    sparse.save_npz(buffer, X, compressed=True)
    path.write_bytes(packed({**entries, name: buffer.getvalue()}))
    with pytest.raises(ValueError, match="must not be compressed"):
        load_model(path)


def test_arrays_of_objects_are_not_unpickled(path, tmp_path):
    mark = tmp_path / "ran"

    class Weapon:
        def __reduce__(self):
            return open, (str(mark), "w")

    buffer = io.BytesIO()
    np.save(buffer, np.array([Weapon()], dtype=object), allow_pickle=True)
    entries = unpacked(path.read_bytes())
    arrays = {name: buffer.getvalue() for name in entries if name.endswith(".npy")}
    path.write_bytes(packed({**entries, **arrays}))
    with pytest.raises(ValueError, match="allow_pickle"):
        load_model(path)
    assert not mark.exists()


def test_pickle_called_skops_is_refused_unread(path, tmp_path):
    mark = tmp_path / "ran"

    class Weapon:
        def __reduce__(self):
            return open, (str(mark), "w")

    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        path.write_bytes(pickle.dumps(Weapon(), protocol))
        for allowed in (False, True):
            with pytest.raises(ValueError, match="path must be a model"):
                load_model(path, pickle=allowed)
    assert not mark.exists()


def test_deep_schemas_are_refused(path):
    depth = 100_000
    entries = unpacked(path.read_bytes())
    deep = b'{"a": ' * depth + b"1" + b"}" * depth
    path.write_bytes(packed({**entries, SCHEMA: deep}))
    with pytest.raises(ValueError, match="path must be a model"):
        load_model(path)

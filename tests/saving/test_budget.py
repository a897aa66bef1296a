"""Memory: reading a file of n bytes takes at most 20 n + 200 MB, whatever is in it."""

import io
import json
import os
import subprocess
import sys
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier

from ecselm import CostDecisionClassifier, ELMClassifier, KELMClassifier
from ecselm._files import check_array, parsed_size
from ecselm.estimators._checkpoint import Checkpoint
from ecselm.saving import load_model, save_model
from ecselm.saving.archive import CARD, HEADER, SCHEMA, TEXTS, unpacked
from ecselm.saving.files import FORMAT
from tests.saving.forged import attributes, forge, json_node, node, tuple_node

# Reads files under a limit of the address space, and prints what came of each.
READER = """
import json, os, resource, sys
import numpy, skops.io
from ecselm.saving import load_model
from ecselm.estimators._checkpoint import Checkpoint

def used():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()

for path in sys.argv[1:]:
    size = os.stat(path).st_size
    allowed = used() + 20 * size + 200_000_000
    resource.setrlimit(resource.RLIMIT_AS, (allowed, resource.RLIM_INFINITY))
    try:
        Checkpoint(path, {}, 0) if path.endswith(".npz") else load_model(path)
        print(json.dumps("loaded"))
    except ValueError as error:
        print(json.dumps(str(error)))
"""
linux = pytest.mark.skipif(sys.platform != "linux", reason="limits the address space as on Linux")


def list_node(*parts, **more):
    return node("ListNode", "builtins.list", content=list(parts), **more)


def array_node(file="a.npy", **more):
    return node("NdArrayNode", "numpy.ndarray", type="numpy", file=file, **more)


def objects_node(*parts, shape):
    return node(
        "NdArrayNode",
        "numpy.ndarray",
        type="json",
        content=list(parts),
        shape=tuple_node(*shape),
    )


def stored(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def claiming(shape, content=b"", dtype="<f8"):
    """Return a stored array whose shape says anything."""
    buffer = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue() + content


def model_file(schema, **entries):
    """Return a file of a model with a schema and entries of any content."""
    texts = {HEADER: json.dumps({"format": FORMAT, "ecselm": "0"}), SCHEMA: schema}
    if not isinstance(schema, str):
        texts[SCHEMA] = json.dumps({**schema, "protocol": 2})
    names = {"card": CARD, "header": HEADER}
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, content in (
            texts | {names.get(key, f"{key}.npy"): one for key, one in entries.items()}
        ).items():
            archive.writestr(name, content, ZIP_DEFLATED if name in TEXTS else ZIP_STORED)
    return buffer.getvalue()


def checkpoint_file(compression=ZIP_STORED, **arrays):
    header = np.frombuffer(b'{"seed": "1", "identity": {}}', np.uint8)
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", compression) as archive:
        for name, content in ({"header": stored(header)} | arrays).items():
            archive.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def doubling(depth):
    """Return lists of two lists each, in which the second is the first by its identity."""
    lists = list_node(__id__=1)
    for i in range(2, depth):
        lists = list_node(lists, list_node(__id__=i - 1), __id__=i)
    return lists


def deep(depth):
    lists = list_node()
    for _ in range(depth):
        lists = list_node(lists)
    return lists


def matrix_file(shape):
    buffer = io.BytesIO()
    none = np.array([], dtype=np.int64)
    matrix = sparse.coo_array((none.astype(float), (none, none)), shape=shape)
    sparse.save_npz(buffer, matrix, compressed=False)
    return buffer.getvalue()


MEGABYTE = stored(np.zeros(1 << 20, np.uint8))
MATRIX = node("SparseMatrixNode", "scipy.sparse._coo.coo_array", type="scipy", file="a.npy")
TREE = node(
    "TreeNode",
    "sklearn.tree._tree.Tree",
    __reduce__={
        "args": node(
            "TupleNode",
            "builtins.tuple",
            content=[json_node(1), array_node(__id__=1), json_node(10**9)],
        )
    },
    content=node(
        "DictNode",
        "builtins.dict",
        key_types=list_node(),
        content={"node_count": json_node(1), "nodes": array_node(__id__=1)},
    ),
)
MODELS = {  # content of the file, and what the refusal says
    "one array, many objects": (
        lambda: model_file(list_node(*(array_node(__id__=i + 9) for i in range(3000))), a=MEGABYTE),
        "a.npy must be the array of one object, got 3000 objects",
    ),
    "one array, objects without identity": (
        lambda: model_file(list_node(*([array_node()] * 3000)), a=MEGABYTE),
        "a.npy must be the array of one object, got 3000 objects",
    ),
    "one array, an array of objects": (
        lambda: model_file(
            objects_node(*([array_node(__id__=9)] * 2000), shape=(2000, 1)), a=MEGABYTE
        ),
        "arrays of objects must hold at most",
    ),
    "schema of empty objects": (
        lambda: model_file("[" + "{}," * 19_000_000 + "{}]"),
        "must need at most 201 MB of memory, got a description of",
    ),
    "schema of empty lists": (
        lambda: model_file(list_node(*([list_node()] * 200_000))),
        "must need at most 201 MB of memory, got a description of",
    ),
    "card": (
        lambda: model_file(list_node(), card="[" + "[]," * 19_000_000 + "[]]"),
        "must need at most 201 MB of memory, got a description of",
    ),
    "card of wide characters": (
        lambda: model_file(list_node(), card='"' + "a" * 60_000_000 + '\\ud83d\\ude00"'),
        "must need at most 201 MB of memory, got a description of",
    ),
    "header": (
        lambda: model_file(list_node(), header="[" + "[]," * 19_000_000 + "[]]"),
        "its header must have at most 10000 bytes, got 57000004",
    ),
    "texts together": (
        lambda: model_file(" " * 40_000_000, card=" " * 40_000_000),
        "texts must have at most 67108864 bytes, got 80000",
    ),
    "lists twice each": (lambda: model_file(doubling(60)), "must be described alike"),
    "depth": (lambda: model_file(deep(150)), "must be nested at most 200 levels deep, got more"),
    "endless depth": (
        lambda: model_file("[" * 1_000_000 + "]" * 1_000_000),
        "must be nested at most 200 levels deep, got more",
    ),
    "array of no columns": (
        lambda: model_file(list_node(array_node(__id__=9)), a=claiming((10**11, 0))),
        "a.npy of 0 bytes must claim at most 1048576 items, got shape (100000000000, 0)",
    ),
    "array of empty texts": (
        lambda: model_file(list_node(array_node(__id__=9)), a=claiming((10**11,), dtype="<U0")),
        "a.npy of 0 bytes must claim at most 1048576 items, got shape (100000000000,)",
    ),
    "array without its content": (
        lambda: model_file(list_node(array_node(__id__=9)), a=claiming((10**6, 1), bytes(24))),
        "the shape of a.npy must agree with its 24 bytes, got (1000000, 1) of float64",
    ),
    "sparse matrix": (
        lambda: model_file(list_node(MATRIX), a=matrix_file((10**11, 3))),
        "items, got shape [100000000000, 3]",
    ),
    "tree": (
        lambda: model_file(list_node(TREE), a=stored(np.zeros(1, np.int64))),
        "a tree must claim its 1 outputs, got 1000000000",
    ),
    "list in a value": (
        lambda: model_file(list_node(json_node([0] * 100_000))),
        "a value in JSON must be a number or a text, got '[0, 0",
    ),
}
CHECKPOINTS = {
    "compressed": (
        lambda: checkpoint_file(ZIP_DEFLATED, fitness=claiming((30_000, 500), bytes(120_000_000))),
        "must not be compressed",
    ),
    "no candidates": (
        lambda: checkpoint_file(fitness=claiming((10**11, 0))),
        "fitness of 0 bytes must claim at most 1048576 items, got shape (100000000000, 0)",
    ),
    "generations": (
        lambda: checkpoint_file(fitness=claiming((1_000_001, 0))),
        "at most 1000000 generations, got shape (1000001, 0) of float64",
    ),
    "bytes": (
        lambda: checkpoint_file(fitness=stored(np.zeros((10**6, 1), np.uint8))),
        "got shape (1000000, 1) of uint8",
    ),
    "header": (
        lambda: checkpoint_file(
            header=stored(np.frombuffer(b"[" * 1_000_000, np.uint8)), fitness=b""
        ),
        "header must take at most 50000000 bytes, got",
    ),
}


def read_limited(*paths):
    """Return what another process said of each file, with the memory that a file may take."""
    read = subprocess.run(  # noqa: S603  our own interpreter
        [sys.executable, "-c", READER, *map(str, paths)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert read.returncode == 0, read.stderr[-2000:]
    return [json.loads(line) for line in read.stdout.splitlines()]


@linux
@pytest.mark.parametrize("cases", [MODELS, CHECKPOINTS], ids=["models", "checkpoints"])
def test_small_files_are_refused_within_their_memory(tmp_path, cases):
    start = "path must be a model" if cases is MODELS else "checkpoint must be a file"
    paths = []
    for i, (make, _) in enumerate(cases.values()):
        paths.append(tmp_path / f"{i}.{'skops' if cases is MODELS else 'npz'}")
        paths[-1].write_bytes(make())
    said = read_limited(*paths)
    for path, sentence, (name, (_, rule)) in zip(paths, said, cases.items(), strict=True):
        assert sentence.startswith(start), name
        assert repr(str(path)) in sentence, name
        assert rule in sentence, (name, sentence)
        assert "\n" not in sentence, name


@linux
def test_devices_and_pipes_are_refused_unread(tmp_path):
    pipe = tmp_path / "pipe.skops"
    os.mkfifo(pipe)
    for path, sentence in zip(("/dev/zero", pipe), read_limited("/dev/zero", pipe), strict=True):
        assert sentence.startswith(f"path must be a file that can be read, got {str(path)!r}")
        assert sentence.endswith("it must be a regular file, not a device or a pipe")
    with pytest.raises(ValueError, match="must be a regular file, not a device or a pipe"):
        Checkpoint(pipe, {}, 0)


@linux
@pytest.mark.slow
def test_large_models_load_within_their_memory(tmp_path, rng):
    X = rng.standard_normal((200, 4))
    y = (X[:, 0] > 0).astype(int)
    kernel = KELMClassifier().fit(np.tile(X, (1, 2000)), y)  # 13 MB
    forest = RandomForestClassifier(300, max_depth=2, random_state=0).fit(X, y)
    paths = [tmp_path / "kernel.skops", tmp_path / "forest.skops"]
    for model, path in zip((kernel, forest), paths, strict=True):
        save_model(model, path)
    assert read_limited(*paths) == ["loaded", "loaded"]


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path, small):
    path = tmp_path / "model.skops"
    card = "[" + "[]," * 2_000_000 + "[]]"
    with pytest.raises(ValueError, match=r"^model must fit the limits of a file: .* 200 MB"):
        save_model(small, path, card=card)
    assert not path.exists()


def test_objects_shared_in_a_model_are_loaded(tmp_path, rng):
    """The same generator stands in many trees, each time with a new array of its state."""
    X = rng.standard_normal((30, 3))
    shared = np.random.RandomState(0)
    forest = RandomForestClassifier(3, random_state=shared).fit(X, X[:, 0] > 0)
    for tree in forest.estimators_:
        tree.random_state = shared
    path = tmp_path / "model.skops"
    save_model(forest, path)
    loaded = load_model(path).model
    assert len({id(tree.random_state) for tree in loaded.estimators_}) == 1
    np.testing.assert_array_equal(loaded.predict(X), forest.predict(X))


def test_trees_that_claim_other_nodes_than_they_have_are_refused(tmp_path, rng):
    X = rng.standard_normal((30, 3))
    path = tmp_path / "model.skops"
    save_model(RandomForestClassifier(1, random_state=0).fit(X, X[:, 0] > 0), path)

    def change(schema):
        content = schema["content"]["content"]["estimators_"]["content"][0]["content"]["content"]
        content["tree_"]["content"]["content"]["node_count"]["content"] = "10000"

    forge(path, change)
    with pytest.raises(ValueError, match=r"a tree must claim its \d+ nodes, got 10000"):
        load_model(path)


def test_constraints_of_more_classes_than_the_memory_holds_are_refused(tmp_path, rng):
    X, y = rng.standard_normal((30, 3)), np.arange(30) % 2
    path = tmp_path / "model.skops"
    save_model(CostDecisionClassifier(ELMClassifier(5, random_state=0)).fit(X, y), path)

    def change(schema):
        stated = json.loads(json.dumps(attributes(schema)["constraints_"]))
        text = next(one for one in strings(stated) if "classes" in one)
        costs = json.loads(json.loads(text))
        costs["classes"] = list(range(5000))
        forged = json.dumps(stated).replace(json.dumps(text), json.dumps(json_text(costs)))
        attributes(schema)["constraints_"] = {**json.loads(forged), "__id__": 1}

    def strings(value):
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            for part in value.values() if isinstance(value, dict) else value:
                yield from strings(part)

    def json_text(costs):
        return json.dumps(json.dumps(costs))

    forge(path, change)
    with pytest.raises(ValueError, match=r"must need at most 200 MB of memory, got .* 4000 MB"):
        load_model(path)


@pytest.mark.parametrize(
    "array",
    [np.zeros((2, 3)), np.zeros(()), np.zeros((5, 0)), np.array(["ab"]), np.ones(2, "f4,i8")],
    ids=str,
)
def test_arrays_as_numpy_writes_them_pass(array):
    assert check_array(stored(array), "a.npy") == array.size


@pytest.mark.parametrize(
    "content",
    [b"", b"\x93NUMPY", b"\x93NUMPY\x09\x00\x00\x00", MEGABYTE[:60], claiming((-1, 2)), b"PK"],
    ids=range(6),
)
def test_what_is_no_array_is_refused(content):
    with pytest.raises(ValueError, match=r"a\.npy must be an array in NumPy's format"):
        check_array(content, "a.npy")


@pytest.mark.parametrize(
    "item", ["[]", "{}", '{"a":1}', '["ab"]', "1e9", "1000", '"ab"', '"\\u00e9"', '"é"', "[[[]]]"]
)
def test_bound_of_parsed_texts_is_never_exceeded(item):
    import tracemalloc

    text = ("[" + ",".join([item] * 20_000) + "]").encode()
    tracemalloc.start()
    try:
        parsed = json.loads(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(parsed) == 20_000
    assert peak <= parsed_size(text)


def test_entries_of_a_saved_model_are_bounded_by_the_file(path):
    content = path.read_bytes()
    entries = unpacked(content)
    assert sum(len(one) for name, one in entries.items() if name not in TEXTS) <= len(content)

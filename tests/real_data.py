"""Real data sets as their SOURCE.md says how to read them."""

import gzip

import numpy as np
from scipy.io import loadmat

STEADY_STATE = [0, 16, 32, 48, 64, 80]  # of sensors 1, 3, ..., 11


def gas(folder, batch=1):
    """Return six steady-state columns (N, 6) and the gas of each row, 1 to 6."""
    with gzip.open(folder / "gas_drift_uci" / f"batch{batch}.dat.gz", "rt") as lines:
        rows = [line.split() for line in lines if line.strip()]
    y = np.array([int(row[0].split(";")[0]) for row in rows])
    X = np.array([[float(value.split(":")[1]) for value in row[1:]] for row in rows])
    return X[:, STEADY_STATE], y


def olivetti(folder):
    """Return 400 faces (400, 4096) with values in [0, 1], ten of each of 40 persons."""
    faces = loadmat(folder / "olivetti_faces" / "olivettifaces.mat")["faces"].T
    return faces / 255.0, np.repeat(np.arange(40), 10)


def german(folder):
    """Return 24 numeric columns (1000, 24), 1 for good and 2 for bad, and the cost matrix."""
    text = (folder / "german_credit_cost5to1" / "german.data-numeric").read_text()
    rows = [line.replace(",", " ").split() for line in text.splitlines() if line.strip()]
    values = np.array(rows, dtype=float)
    return values[:, :-1], values[:, -1].astype(int), np.array([[0.0, 1.0], [5.0, 0.0]])


def scut(folder, group="AF"):
    """Return appearance (N, 300), geometry (N, 172) and scores on [1, 10] of one group."""
    with np.load(folder / "scut_fbp_asian" / "features.npz") as file:
        names, score = file["name"], file["score"]
        landmarks, appearance = file["landmarks"], file["appearance300"]
    rows = np.char.startswith(names.astype(str), group)
    shape = landmarks[rows] - landmarks[rows].mean(axis=1, keepdims=True)
    radius = np.sqrt((shape**2).sum(axis=2).mean(axis=1))
    geometry = (shape / radius[:, None, None]).reshape(len(shape), -1)
    return appearance[rows].astype(float), geometry.astype(float), 1 + (score[rows] - 1) * 9 / 4

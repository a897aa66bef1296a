"""The kernel extreme learning machine (paper, eqs. 6-7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ecselm._typing import FloatArray, Matrix
from ecselm.estimators._base import KERNEL, RIDGE, ELMClassification, ELMRegression


class KELMClassifier(ELMClassification):
    """Kernel extreme learning machine: a kernel in the place of H H'.

    ``z(x) = [K(x, x_1), ..., K(x, x_N)] (I/C + Omega)^-1 T`` (7). It has no hidden
    units and no randomness; memory grows with N^2 and time with N^3.

    Parameters
    ----------
    C : float, default=32.0
        Trade-off between small errors and small output weights; larger fits closer.
    kernel : str or callable, default="rbf"
        ``"rbf"``, ``"linear"``, ``"polynomial"``, ``"laplacian"``, ``"cosine"``,
        ``"precomputed"`` (X is then the kernel matrix), or a function of two blocks of
        rows that returns the matrix of their kernel values.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of rbf, polynomial and laplacian, as in :class:`sklearn.svm.SVC`. The
        paper does not state its kernel or width: choose both by cross-validation.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant of the polynomial kernel.
    scale : {"standard", "minmax"} or None, default=None
        Scale of the inputs, measured on the training rows; sparse rows are not centred.
    max_samples : int or None, default=20000
        More training rows are refused; None lifts the limit.

    Attributes
    ----------
    classes_ : array of shape (k,)
    beta_ : array of shape (N, k)
        ``(I/C + Omega)^-1 T``, the weights of the training rows.
    layer_ : KernelMap
        The map from x to its kernel values with the training rows.
    cost_vector_ : array of shape (N,)
        The B of (15), here 1 for every row.
    solver_ : str
        The path the solution took.
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecselm import KELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(KELMClassifier().fit(X, y).score(X, y) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**KERNEL, **RIDGE}

    def __init__(
        self,
        C: float = 32.0,
        *,
        kernel: str | Callable[[Matrix, Matrix], FloatArray] = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1,
        scale: str | None = None,
        max_samples: int | None = 20000,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.max_samples = max_samples


class KELMRegressor(ELMRegression):
    """Kernel extreme learning machine for one or many real targets (7).

    Parameters
    ----------
    C, kernel, gamma, degree, coef0, scale, max_samples :
        As in :class:`KELMClassifier`.

    Attributes
    ----------
    beta_ : array of shape (N, m)
    layer_ : KernelMap
    solver_ : str
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm import KELMRegressor
    >>> X = np.linspace(-3, 3, 50)[:, np.newaxis]
    >>> model = KELMRegressor(C=1e4).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.99)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**KERNEL, **RIDGE}

    def __init__(
        self,
        C: float = 32.0,
        *,
        kernel: str | Callable[[Matrix, Matrix], FloatArray] = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1,
        scale: str | None = None,
        max_samples: int | None = 20000,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.max_samples = max_samples

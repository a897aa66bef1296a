"""Parameters that no file can hold: functions of the person's own."""

from __future__ import annotations

from sklearn.base import BaseEstimator


def check_parameters(model: BaseEstimator) -> None:
    """Refuse a model with a function among its parameters, and name the parameter.

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm import ELMClassifier
    >>> check_parameters(ELMClassifier(activation="tanh"))
    >>> check_parameters(ELMClassifier(activation=np.tanh))
    Traceback (most recent call last):
        ...
    ValueError: activation must be no function for a model to be saved, got <ufunc 'tanh'>: a file
    cannot hold one that is safe to read; fit with a name instead, or save with pickle=True
    """
    for name, value in model.get_params(deep=True).items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if callable(one) and not isinstance(one, type | BaseEstimator):
                raise ValueError(  # noqa: TRY004  as for any value
                    f"{name} must be no function for a model to be saved, got {one!r}: a file "
                    f"cannot hold one that is safe to read; {_instead(name)}, or save with "
                    "pickle=True"
                )


def _instead(name: str) -> str:
    if name.endswith("callbacks"):
        return f"drop it by set_params({name}=None)"
    return "fit with a name instead"

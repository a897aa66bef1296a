"""Layers for rows that nobody holds: drawn as always, on a scale that partitions add up to."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ecselm._typing import FloatArray
from ecselm.dask.survey import Survey
from ecselm.dask.table import Form
from ecselm.elm.layers import LayerRecipe
from ecselm.hidden import RandomLayer


def measured_layer(recipe: LayerRecipe, known: Survey) -> RandomLayer:
    """Return the layer that :meth:`LayerRecipe.make` makes of all rows."""
    if recipe.drawn is None:
        raise TypeError("the recipe must have weights that were drawn")
    scale = known.scale.scale(recipe.scale)
    layer = RandomLayer.from_draw(recipe.drawn, recipe.activation, scale, recipe.dtype)
    layer.warn_if_saturated(known.head.X)
    return layer


def named(X: FloatArray, form: Form) -> Any:
    """Return rows with the names of their columns, if these have names."""
    return X if form.names is None else pd.DataFrame(X, columns=form.names)

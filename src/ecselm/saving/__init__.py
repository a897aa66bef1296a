"""Save and load models in files from which nothing is executed; prepare models for services."""

from ecselm.saving.files import SavedModel, UntrustedFileWarning, load_model, save_model
from ecselm.saving.prepared import PreparedModel, prepare

__all__ = [
    "PreparedModel",
    "SavedModel",
    "UntrustedFileWarning",
    "load_model",
    "prepare",
    "save_model",
]

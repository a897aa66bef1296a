"""Save and load models in files from which nothing is executed."""

from ecselm.saving.files import SavedModel, UntrustedFileWarning, load_model, save_model

__all__ = ["SavedModel", "UntrustedFileWarning", "load_model", "save_model"]

"""Models on disk: files that hold nothing that could be executed, and no surprise."""

from ecselm.saving.files import SavedModel, UntrustedFileWarning, load_model, save_model

__all__ = ["SavedModel", "UntrustedFileWarning", "load_model", "save_model"]

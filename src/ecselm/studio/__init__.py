"""The studio: a local web application from a table to a model, its costs and its report."""

try:
    import jinja2  # noqa: F401
    import python_multipart  # noqa: F401
    import starlette  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError as error:
    raise ImportError(
        "ecselm.studio needs starlette, uvicorn, jinja2 and python-multipart: install the extra "
        "\"studio\", pip install 'ecselm[studio]'"
    ) from error

from ecselm.studio.app import create_app
from ecselm.studio.project import Project, Workspace
from ecselm.studio.server import serve

__all__ = ["Project", "Workspace", "create_app", "serve"]

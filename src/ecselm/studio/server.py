"""The server: one socket on this computer, one token, until it is interrupted."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable

import uvicorn

from ecselm.studio.app import create_app
from ecselm.studio.project import Project, Workspace

HOST = "127.0.0.1"


def serve(
    workspace: Workspace,
    *,
    port: int = 0,
    project: Project | None = None,
    opened: Callable[[str], None] | None = None,
) -> None:
    """Serve a workspace on 127.0.0.1 until the process is interrupted.

    A folder that another studio serves is refused with RuntimeError.

    Parameters
    ----------
    workspace : Workspace
    port : int, default=0
        0 takes a free one.
    project : Project or None, default=None
        Which the address opens; None opens the list of projects.
    opened : callable or None, default=None
        Is called with the address, which has the token, when connections are accepted.
    """
    if not 0 <= port <= 65535:
        raise ValueError(f"port must be from 0 to 65535, got {port}")
    token = secrets.token_urlsafe(24)
    with workspace.held(), socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError as error:
            raise ValueError(f"port must be a free one, got {port}: {error.strerror}") from error
        listener.listen(128)
        bound = listener.getsockname()[1]
        app = create_app(workspace, port=bound, token=token)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            ws="none",
            proxy_headers=False,
            timeout_graceful_shutdown=2,
        )
        place = "/" if project is None else f"/p/{project.id}/data"
        address = f"http://{HOST}:{bound}{place}?token={token}"
        if opened is not None:
            opened(address)
        uvicorn.Server(config).run(sockets=[listener])

"""A look at the pages over HTTP, from this machine only."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchsuite.errors import UsageError


class _Quiet(SimpleHTTPRequestHandler):
    """Serves files, and keeps to itself which."""

    def log_message(self, format: str, *args: Any) -> None:
        return

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        super().end_headers()


def page_server(folder: Path, port: int) -> ThreadingHTTPServer:
    """A server of the folder's files at 127.0.0.1."""
    try:
        return ThreadingHTTPServer(("127.0.0.1", port), partial(_Quiet, directory=str(folder)))
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"port {port}: {reason}. Name another with --port; 0 takes any that is free.") from error

"""Serves the site's folder to browsers on this machine, and to nobody else.

Any page that a browser shows can send requests to this machine, and a name of its own server can be made to lead here.
So a request must name this machine as its host, and gets nothing but files that lie in the folder.
"""

import re
import sys
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from benchsuite.errors import UsageError
from benchsuite.files import reason_of
from benchsuite.report.render import POLICY

ADDRESS = "127.0.0.1"
HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?", re.IGNORECASE)
"""With any port: that of a tunnel is another one."""
TYPES = {
    ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml",
    ".json": "application/json", ".csv": "text/csv", ".md": "text/markdown", ".tex": "text/plain", ".txt": "text/plain",
}  # fmt: skip
"""Of all that the site has; anything else is not for a browser to show."""
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
SECONDS = 60
"""After which a connection that says nothing is closed."""


class _Handler(BaseHTTPRequestHandler):
    timeout = SECONDS

    def __init__(self, *args: Any, folder: Path) -> None:
        self._folder = folder
        super().__init__(*args)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, with_body: bool) -> None:
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or not HOST.fullmatch(hosts[0]):
            self.send_error(HTTPStatus.FORBIDDEN, explain="The host must be localhost, 127.0.0.1 or [::1].")
            return
        path = unquote(self.path.partition("#")[0].partition("?")[0])
        if not path.startswith("/") or not path.isprintable():
            self.send_error(HTTPStatus.BAD_REQUEST)
            return
        name = "index.html" if path == "/" else path[1:]
        content = content_of(self._folder, name)
        if content is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        kind = TYPES.get(PurePosixPath(name).suffix, "application/octet-stream")
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", f"{kind}; charset=utf-8" if kind.startswith("text/") else kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if with_body:
            self.wfile.write(content)

    def end_headers(self) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def version_string(self) -> str:
        return "benchsuite"

    def log_message(self, format: str, *args: Any) -> None:
        return


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that leaves early is no error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def content_of(folder: Path, name: str) -> bytes | None:
    """A file of the folder; None if it is hidden, cannot be read, or if a link is on the way to it."""
    parts = name.split("/")
    if any(not part or part.startswith(".") or "\\" in part for part in parts):
        return None
    file = folder.joinpath(*parts)
    with suppress(OSError, RuntimeError):  # a link that leads to itself is a RuntimeError
        if file.resolve() == file and file.is_file():
            return file.read_bytes()
    return None


def page_server(folder: Path, port: int) -> ThreadingHTTPServer:
    """A server of the folder's files on 127.0.0.1."""
    try:
        return _Server((ADDRESS, port), partial(_Handler, folder=folder.resolve()))
    except OSError as error:
        reason = reason_of(error)
        raise UsageError(f"port {port}: {reason}. Name another with --port; 0 takes a free one.") from error

"""Serves the site's folder to browsers on this machine, and to nobody else.

Any page that a browser shows can send requests to this machine, and a name of its own server can be made to lead here.
So a request must name this machine as its host.
"""

import re
import sys
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

from benchsuite.errors import UsageError
from benchsuite.files import reason_of
from benchsuite.report.render import POLICY

ADDRESS = "127.0.0.1"
HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?", re.IGNORECASE)
"""With any port: that of a tunnel is another one."""
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}


class _Handler(SimpleHTTPRequestHandler):
    def send_head(self) -> Any:
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or not HOST.fullmatch(hosts[0]):
            self.send_error(HTTPStatus.FORBIDDEN, explain="The host must be localhost, 127.0.0.1 or [::1].")
            return None
        return super().send_head()

    def list_directory(self, path: object) -> IO[bytes] | None:  # type: ignore[override]
        self.send_error(HTTPStatus.NOT_FOUND)
        return None

    def end_headers(self) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        return


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that leaves early is no error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def page_server(folder: Path, port: int) -> ThreadingHTTPServer:
    """A server of the folder's files on 127.0.0.1."""
    try:
        return _Server((ADDRESS, port), partial(_Handler, directory=str(folder)))
    except OSError as error:
        reason = reason_of(error)
        raise UsageError(f"port {port}: {reason}. Name another with --port; 0 takes a free one.") from error

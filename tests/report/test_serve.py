"""Over sockets: what a browser of this machine gets, and what anyone else gets."""

import socket
import threading
from collections.abc import Callable, Iterator
from email.message import Message
from email.parser import BytesParser
from pathlib import Path
from typing import NamedTuple

import pytest

from benchsuite.errors import UsageError
from benchsuite.report.serve import page_server

INDEX, SECRET = b"<p>index", b"secret"


class Answer(NamedTuple):
    status: int
    headers: Message
    body: bytes


Ask = Callable[..., Answer]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    (folder / "tables").mkdir(parents=True)
    (folder / "index.html").write_bytes(INDEX)
    (folder / "tables" / "a.csv").write_bytes(b"a,b\n")
    (tmp_path / "secret.txt").write_bytes(SECRET)
    return folder


@pytest.fixture
def served(folder: Path) -> Iterator[tuple[int, Ask]]:
    """The port, and what the server answers to a request line; `host=None` sends no Host."""
    with page_server(folder, 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        port = server.server_port

        def ask(target: str, method: str = "GET", host: str | None = "localhost", more: bytes = b"") -> Answer:
            hosts = b"" if host is None else f"Host: {host}\r\n".encode()
            request = f"{method} {target} HTTP/1.1\r\n".encode("latin-1") + hosts + more + b"\r\n"
            head, _, body = sent(port, request).partition(b"\r\n\r\n")
            first, _, headers = head.partition(b"\r\n")
            return Answer(int(first.split()[1]), BytesParser().parsebytes(headers + b"\r\n\r\n"), body)

        try:
            yield port, ask
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def ask(served: tuple[int, Ask]) -> Ask:
    return served[1]


def sent(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(
    ("target", "kind", "body"),
    [
        ("/", "text/html", INDEX),
        ("/index.html?board-1.q=a#b", "text/html", INDEX),
        ("/tables/a.csv", "text/csv", b"a,b\n"),
    ],
)
def test_files_are_served_with_their_type(ask: Ask, target: str, kind: str, body: bytes) -> None:
    answer = ask(target)
    assert (answer.status, answer.headers.get_content_type(), answer.body) == (200, kind, body)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT"])
def test_nothing_but_get_and_head_is_answered(ask: Ask, method: str) -> None:
    assert ask("/", method).status == 501


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:{port}", "127.0.0.1", "127.0.0.1:{port}", "[::1]:9"])
def test_names_of_this_machine_are_answered(served: tuple[int, Ask], host: str) -> None:
    port, ask = served
    assert ask("/", host=host.format(port=port)).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "example.org", "example.org:{port}", "127.0.0.1.example.org", "localhost.example.org", "localhost@example.org",
        "example.org#localhost", "127.0.0.2", "0.0.0.0", "[::2]", "localhost:", "localhost:port", "", None,
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_name_that_another_site_could_point_here_is_refused(
    served: tuple[int, Ask], host: str | None, method: str
) -> None:
    port, ask = served
    answer = ask("/", method, host=host and host.format(port=port))
    assert answer.status == 403
    assert INDEX not in answer.body


def test_one_host_must_be_given(ask: Ask) -> None:
    assert ask("/", host="localhost", more=b"Host: example.org\r\n").status == 403
    assert ask("/", host="example.org", more=b"Host: localhost\r\n").status == 403


@pytest.mark.parametrize(
    "target",
    [
        "/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/tables/..%2f..%2fsecret.txt", "//etc/passwd",
        "/tables/", "/nothing.html",
    ],
)  # fmt: skip
def test_what_is_outside_or_no_file_is_not_found(ask: Ask, target: str) -> None:
    answer = ask(target)
    assert answer.status == 404
    assert SECRET not in answer.body
    assert b"a.csv" not in answer.body


@pytest.mark.parametrize(("target", "host"), [("/", "localhost"), ("/nothing", "localhost"), ("/", "example.org")])
def test_every_answer_says_what_a_browser_may_do_with_it(ask: Ask, target: str, host: str) -> None:
    headers = ask(target, host=host).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert "default-src 'none'; script-src 'self'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]


def test_who_leaves_early_leaves_no_trace(
    served: tuple[int, Ask], folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    port, ask = served
    (folder / "large.json").write_bytes(b"0" * 20_000_000)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(b"GET /large.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connection.recv(10)
    assert ask("/").status == 200
    assert capfd.readouterr() == ("", "")


def test_it_listens_on_this_machine_alone_and_names_a_port_that_is_taken(served: tuple[int, Ask], folder: Path) -> None:
    port, _ = served
    with page_server(folder, 0) as server:
        assert server.server_address[0] == "127.0.0.1"
    with pytest.raises(UsageError, match=f"port {port}: .* --port"):
        page_server(folder, port)

"""The server of the pages, asked over a socket, without a client that tidies requests up."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesParser
from pathlib import Path

import pytest

from benchsuite.errors import UsageError
from benchsuite.report.serve import page_server

INDEX = b"<!doctype html><title>index</title>"
SECRET = b"secret"


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: Message
    body: bytes


Ask = Callable[..., Answer]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pages, beside a file that is none of them."""
    folder = tmp_path / "pages"
    (folder / "tables").mkdir(parents=True)
    (folder / "index.html").write_bytes(INDEX)
    (folder / "tables" / "a.csv").write_bytes(b"a,b\n")
    (folder / "a name.md").write_bytes(b"# a\n")
    (folder / "odd.xyz").write_bytes(b"<script>")
    (folder / ".git").mkdir()
    for file in (tmp_path / "secret.txt", folder / ".env", folder / ".git" / "config"):
        file.write_bytes(SECRET)
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
            return parsed(sent(port, f"{method} {target} HTTP/1.1\r\n".encode("latin-1") + hosts + more + b"\r\n"))

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


def parsed(answer: bytes) -> Answer:
    head, _, body = answer.partition(b"\r\n\r\n")
    first, _, headers = head.partition(b"\r\n")
    return Answer(int(first.split()[1]), BytesParser().parsebytes(headers + b"\r\n\r\n"), body)


@pytest.mark.parametrize(
    ("target", "kind", "body"),
    [
        ("/", "text/html; charset=utf-8", INDEX),
        ("/index.html?board-1.q=a#b", "text/html; charset=utf-8", INDEX),
        ("/tables/a.csv", "text/csv; charset=utf-8", b"a,b\n"),
        ("/a%20name.md", "text/markdown; charset=utf-8", b"# a\n"),
        ("/odd.xyz", "application/octet-stream", b"<script>"),
    ],
)
def test_files_are_served_with_their_type(ask: Ask, target: str, kind: str, body: bytes) -> None:
    answer = ask(target)
    assert (answer.status, answer.headers["Content-Type"], answer.body) == (200, kind, body)
    assert answer.headers["Content-Length"] == str(len(body))


def test_head_has_the_headers_alone(ask: Ask) -> None:
    whole, head = ask("/"), ask("/", "HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["Content-Length"] == whole.headers["Content-Length"] == str(len(INDEX))


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "EVIL"])
def test_nothing_but_get_and_head_is_answered(ask: Ask, method: str) -> None:
    answer = ask("/", method)
    assert answer.status in (405, 501)
    assert INDEX not in answer.body


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST", "localhost:{port}", "127.0.0.1", "127.0.0.1:{port}", "[::1]:9"]
)
def test_names_of_this_machine_are_answered(served: tuple[int, Ask], host: str) -> None:
    port, ask = served
    assert ask("/", host=host.format(port=port)).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "example.org", "example.org:{port}", "127.0.0.1.example.org", "localhost.example.org", "localhost@example.org",
        "example.org#localhost", "127.0.0.2", "0.0.0.0", "[::2]", "localhost:", "localhost:port", "", "[",
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_name_that_another_site_could_point_here_is_refused(served: tuple[int, Ask], host: str, method: str) -> None:
    port, ask = served
    answer = ask("/", method, host=host.format(port=port))
    assert answer.status == 403
    assert INDEX not in answer.body


def test_one_host_must_be_given(ask: Ask) -> None:
    assert ask("/", host=None).status == 403
    assert ask("/", host="localhost", more=b"Host: example.org\r\n").status == 403
    assert ask("/", host="example.org", more=b"Host: localhost\r\n").status == 403


@pytest.mark.parametrize(
    "target",
    [
        "/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/tables/../../secret.txt",
        "/tables/..%2f..%2fsecret.txt", "//../secret.txt", "/./index.html", "/tables//a.csv",
        "/%2fetc/passwd", "//etc/passwd", "/..\\secret.txt", "/..%5csecret.txt", "/%252e%252e/secret.txt",
        "/.env", "/%2eenv", "/.git/config", "/.git/", "/tables/.%2e/.env",
        "/tables", "/tables/", "/tables/.", "/nothing.html", "/index.html/", "/index.html/x", "/%ff%fe",
        "/" + "x" * 5000, "/c:/index.html",
    ],
)  # fmt: skip
def test_what_is_no_page_is_not_found(ask: Ask, target: str) -> None:
    answer = ask(target)
    assert answer.status == 404
    assert SECRET not in answer.body
    assert b"a.csv" not in answer.body.replace(target.encode(), b"")


@pytest.mark.parametrize(
    "target",
    ["/%00", "/index.html%00.png", "/%0d%0aX-Evil:%201", "/%1b[2J", "index.html", "http://localhost/", "*", "?"],
)
def test_what_is_no_path_is_a_bad_request(ask: Ask, target: str) -> None:
    answer = ask(target)
    assert answer.status == 400
    assert "X-Evil" not in answer.headers


def test_links_lead_nowhere(folder: Path, ask: Ask) -> None:
    (folder / "out.txt").symlink_to(folder.parent / "secret.txt")
    (folder / "up").symlink_to(folder.parent)
    (folder / "in.html").symlink_to(folder / "index.html")
    for target in ("/out.txt", "/up/secret.txt", "/up/pages/index.html", "/in.html"):
        assert ask(target).status == 404


def test_a_link_in_the_place_of_the_index_leads_nowhere(folder: Path, ask: Ask) -> None:
    (folder / "index.html").unlink()
    assert ask("/").status == 404
    (folder / "index.html").symlink_to(folder.parent / "secret.txt")
    assert ask("/").status == 404


def test_a_file_that_cannot_be_read_is_not_found(folder: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(file: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert ask("/").status == 404


def test_a_pipe_holds_nobody_up(folder: Path, ask: Ask) -> None:
    os.mkfifo(folder / "pipe.html")
    assert ask("/pipe.html").status == 404


def test_the_folder_itself_may_be_a_link(folder: Path) -> None:
    (folder.parent / "link").symlink_to(folder)
    with page_server(folder.parent / "link", 0) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
        assert parsed(sent(server.server_port, request)).body == INDEX
        thread.join()


@pytest.mark.parametrize(("target", "host"), [("/", "localhost"), ("/nothing", "localhost"), ("/", "example.org")])
def test_every_answer_says_what_a_browser_may_do_with_it(ask: Ask, target: str, host: str) -> None:
    headers = ask(target, host=host).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'none'; script-src 'self'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "Python" not in (headers["Server"] or "")


@pytest.mark.parametrize(
    "request_",
    [b"", b"\r\n", b"\0\0\0\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02"],
)
def test_what_is_no_request_does_no_harm(
    served: tuple[int, Ask], request_: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    port, ask = served
    assert INDEX not in sent(port, request_)
    assert ask("/").status == 200
    assert capfd.readouterr() == ("", "")


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


def test_it_listens_on_this_machine_alone(folder: Path) -> None:
    with page_server(folder, 0) as server:
        assert server.server_address[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_named(folder: Path, served: tuple[int, Ask]) -> None:
    port, _ = served
    with pytest.raises(UsageError, match=f"port {port}: .* --port"):
        page_server(folder, port)

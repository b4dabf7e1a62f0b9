"""Markdown as a reader of CommonMark with tables and raw HTML sees it."""

from html.parser import HTMLParser

from markdown_it import MarkdownIt


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.found: list[tuple[tuple[str, ...], str]] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.found.append((tuple(self.open), data))

    def handle_comment(self, data: str) -> None:
        self.seen.add("<!--")


def _read(markdown: str) -> _Reader:
    reader = _Reader()
    reader.feed(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown))
    return reader


def texts(markdown: str) -> list[tuple[tuple[str, ...], str]]:
    """The texts of a page with the tags around each."""
    return _read(markdown).found


def tags(markdown: str) -> set[str]:
    """All tags of a page."""
    return _read(markdown).seen


def tables(markdown: str) -> list[list[list[str]]]:
    """The cells of each table, row by row, as written."""
    found: list[list[list[str]]] = []
    inside = False
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        match token.type:
            case "table_open":
                found.append([])
                inside = True
            case "table_close":
                inside = False
            case "tr_open":
                found[-1].append([])
            case "inline" if inside:
                found[-1][-1].append(token.content)
    return found

"""Columns of texts in mapped files read like the lists that were written."""

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.data import texts
from benchsuite.data.base import Split
from benchsuite.data.readers.images import LazyImages
from benchsuite.data.texts import TextLists, Texts, TextsWriter

TEXT = st.text(st.characters(), max_size=9)  # of any script, lone surrogates too


@given(lists=st.lists(st.lists(TEXT, min_size=1, max_size=4), min_size=1, max_size=9))
def test_lists_read_as_written(tmp_path_factory: pytest.TempPathFactory, lists: list[list[str]]) -> None:
    folder = tmp_path_factory.mktemp("texts")
    with TextsWriter(folder, "a") as column:
        for own in lists:
            column.add_list(own)
    read = TextLists(folder, "a")
    assert len(read) == len(lists)
    assert list(read) == lists
    assert [read[i] for i in range(-len(lists), len(lists))] == lists + lists
    assert read[1:] == lists[1:]
    assert read == lists
    assert read != [*lists, ["more"]]


@given(words=st.lists(TEXT, min_size=1, max_size=30))
def test_single_texts_are_texts_or_lists_of_one(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    folder = tmp_path_factory.mktemp("texts")
    with TextsWriter(folder, "a") as column:
        for text in words:
            column.add(text)
    assert list(Texts(folder, "a")) == words
    assert Texts(folder, "a")[2:5] == words[2:5]
    assert Texts(folder, "a")[::-2] == words[::-2]
    assert TextLists(folder, "a") == [[text] for text in words]


def test_an_arrow_column_is_written_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "BLOCK", 2)
    words = ["eins", "", "zwei", "猫", "fünf"]
    column = pa.chunked_array([pa.array(["before", *words[:3]])[1:], pa.array([], pa.string()), pa.array(words[3:])])
    with TextsWriter(tmp_path, "a") as writer:
        writer.add("first")
        writer.add_column(column)
    assert list(Texts(tmp_path, "a")) == ["first", *words]


def test_rows_beyond_the_last_are_refused(tmp_path: Path) -> None:
    with TextsWriter(tmp_path, "a") as column:
        column.add_list(["x", "y"])
    for index in (1, -2):
        with pytest.raises(IndexError):
            TextLists(tmp_path, "a")[index]
    with pytest.raises(IndexError):
        Texts(tmp_path, "a")[2]


def test_a_split_does_not_go_through_mapped_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with TextsWriter(tmp_path, "a") as column:
        column.add_list(["x"])
    monkeypatch.setattr(TextLists, "__iter__", lambda self: pytest.fail("all captions were read"))
    images = LazyImages(1, 8, lambda i: pytest.fail("a picture was read"), str).as_array()
    assert len(Split("train", images, TextLists(tmp_path, "a"))) == 1

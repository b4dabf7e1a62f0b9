"""SentEval's files: pairs of sentences with a gold similarity, and sentences with a class."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.base import Manifest, SentencePairs, SimilarityDataset
from benchsuite.data.readers.files import files_digest, files_under, read_text, require_file, require_folder
from benchsuite.errors import UnknownError, UsageError
from benchsuite.files import packaged
from benchsuite.registry import register_dataset

LAYOUT = (
    "SentEval's data/downstream: STS/STS12-en-test, ..., STS/STSBenchmark, SICK, MR, CR, SUBJ, MPQA, SST, TREC, MRPC"
)
NAMES: Mapping[str, Mapping[str, Sequence[str]]] = tomllib.loads(packaged("data/real/senteval.toml"))
STS, TWO_FILES = NAMES["similarity"], NAMES["classes"]
STSB, SICK = "STSBenchmark", "SICK-R"
QUESTIONS = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")


@dataclass(frozen=True)
class Sentences:
    """Texts with their classes; `other` holds the second sentence of each where the task is about pairs."""

    texts: Sequence[str]
    labels: NDArray[np.int64]
    other: Sequence[str] = ()


@register_dataset("senteval", title="SentEval", license="several", download=True)
class SentEval(SimilarityDataset):
    """Sentence similarity (STS12 to STS16, STSBenchmark, SICK-R) and classification (MR, CR, SUBJ, MPQA, SST2, ...).

    Read from SentEval's data/downstream. It has no images: the tasks sts and sentence-transfer read it.
    """

    shows: ClassVar = "nothing"
    folder: str = ""
    """SentEval's data/downstream. Not part of the identity; the digest is."""

    def manifest(self) -> Manifest:
        return Manifest("senteval", 1, {}, files_digest(files_under(self._root)))

    def pairs(self, name: str) -> dict[str, SentencePairs]:
        """The subsets of a similarity set by name; STSBenchmark and SICK-R have one, test."""
        if name in STS:
            return {subset: self._year(name, subset) for subset in STS[name]}
        if name == STSB:
            return {"test": _pairs(self._file("STS/STSBenchmark/sts-test.csv"), (5, 6, 4))}
        if name == SICK:
            return {"test": _pairs(self._file("SICK/SICK_test_annotated.txt"), (1, 2, 3), header=1)}
        raise UnknownError("similarity set", name, (*STS, STSB, SICK), "senteval: ")

    def classified(self, name: str) -> dict[str, Sentences]:
        """The splits of a classification set: all of it as `all`, or train and test, or train, dev and test."""
        match name:
            case "MR" | "CR" | "SUBJ" | "MPQA":
                texts = (lines(self._file(file), "latin-1") for file in TWO_FILES[name])
                class1, class0 = ([_words(line) for line in part if line.strip()] for part in texts)
                return {"all": Sentences(class1 + class0, np.repeat(np.array([1, 0]), [len(class1), len(class0)]))}
            case "SST2":
                splits = ("train", "dev", "test")
                return {split: _labelled(self._file(f"SST/binary/sentiment-{split}"), (0, 1)) for split in splits}
            case "TREC":
                files = {"train": "TREC/train_5500.label", "test": "TREC/TREC_10.label"}
                return {split: _questions(self._file(file)) for split, file in files.items()}
            case "MRPC":
                files = {split: f"MRPC/msr_paraphrase_{split}.txt" for split in ("train", "test")}
                return {split: _labelled(self._file(file), (3, 4, 0), header=1) for split, file in files.items()}
            case _:
                raise UnknownError("classification set", name, (*TWO_FILES, "SST2", "TREC", "MRPC"), "senteval: ")

    @cached_property
    def _root(self) -> Path:
        return require_folder("senteval", self.folder, LAYOUT)

    def _file(self, name: str) -> Path:
        return require_file(self._root / name, LAYOUT)

    def _year(self, name: str, subset: str) -> SentencePairs:
        texts = self._file(f"STS/{name}-en-test/STS.input.{subset}.txt")
        golds = self._file(f"STS/{name}-en-test/STS.gs.{subset}.txt")
        rows, scores = lines(texts), lines(golds)
        if len(rows) != len(scores):
            raise UsageError(f"{golds}: {len(scores)} gold scores for the {len(rows)} pairs of {texts.name}.")
        both = enumerate(zip(rows, scores, strict=True), start=1)
        return _scored(texts, [
            (*_cells(texts, number, row, (0, 1)), _number(golds, number, score))
            for number, (row, score) in both if score.strip()  # pairs without a gold score do not count
        ])  # fmt: skip


def lines(file: Path, encoding: str = "utf-8") -> list[str]:
    """Lines as written; only line feeds end one (some sentences hold other separators)."""
    pieces = read_text(file, encoding, lines=False).split("\n")
    return [line.rstrip("\r") for line in (pieces[:-1] if pieces[-1] == "" else pieces)]


def _pairs(file: Path, columns: Sequence[int], header: int = 0) -> SentencePairs:
    rows = _rows(file, columns, header)
    return _scored(file, [(a, b, _number(file, number, gold)) for number, (a, b, gold) in rows])


def _scored(file: Path, rows: Sequence[tuple[Any, ...]]) -> SentencePairs:
    if len(rows) < 2:
        raise UsageError(f"{file}: {len(rows)} pairs with a gold score; a correlation needs two or more.")
    a, b, gold = zip(*rows, strict=True)
    return SentencePairs(a, b, np.array(gold))


def _labelled(file: Path, columns: Sequence[int], header: int = 0) -> Sentences:
    """Sentences, or pairs of them, and in the last of these columns their classes."""
    rows = _rows(file, columns, header)
    if wrong := next(((number, cells[-1]) for number, cells in rows if cells[-1] not in ("0", "1")), None):
        raise UsageError(f'{file}, line {wrong[0]}, class: "{wrong[1]}" is neither 0 nor 1.')
    labels = np.array([int(cells[-1]) for _, cells in rows])
    texts, *other = zip(*(cells[:-1] for _, cells in rows), strict=True)
    return Sentences(texts, labels, *other)


def _questions(file: Path) -> Sentences:
    texts, labels = [], []
    for number, line in enumerate(lines(file, "latin-1"), start=1):
        kind, colon, rest = line.strip().partition(":")
        if not colon or kind not in QUESTIONS:
            raise UsageError(f'{file}, line {number}: "{kind}" is not a question type ({", ".join(QUESTIONS)}).')
        texts.append(_words(rest.partition(" ")[2]))
        labels.append(QUESTIONS.index(kind))
    return Sentences(texts, np.array(labels))


def _rows(file: Path, columns: Sequence[int], header: int) -> list[tuple[int, list[str]]]:
    """These cells of the lines below the header that are not empty, and the lines' numbers."""
    below = list(enumerate(lines(file), start=1))[header:]
    return [(number, _cells(file, number, line, columns)) for number, line in below if line.strip()]


def _cells(file: Path, line: int, text: str, columns: Sequence[int]) -> list[str]:
    cells = text.split("\t")
    if len(cells) <= max(columns):
        raise UsageError(f"{file}, line {line}: {len(cells)} columns between tabs where {max(columns) + 1} are needed.")
    return [_words(cells[column]) for column in columns]


def _number(file: Path, line: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        raise UsageError(f'{file}, line {line}, gold score: "{text.strip()}" is not a number.')
    return value


def _words(text: str) -> str:
    return " ".join(text.split())

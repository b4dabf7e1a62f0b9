import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers.normalizers import BertNormalizer

from benchsuite.data.base import Split
from benchsuite.models import tokenizer as module
from benchsuite.models.tokenizer import SPECIAL, Words, words_for
from benchsuite.setup import Data
from benchsuite.tower_settings import TextTower

PAD, UNK, CLS, SEP = range(4)
TEXTS = ["a red circle", "a large blue square over a small yellow star", "the green ring beside a red cross"]


def corpus(texts: list[str] = TEXTS, paraphrases: list[str] | None = None) -> Split:
    pictures = np.zeros((len(texts), 2, 2, 3), np.uint8)
    return Split("train", pictures, [[text] for text in texts], [[text] for text in paraphrases or []])


def words(max_tokens: int = 30, digest: str = "d", split: Split | None = None, vocabulary: int = 80) -> Words:
    tower = TextTower(transformer="distilbert", max_tokens=max_tokens, vocabulary=vocabulary)
    return words_for(tower, Data(name="tiny", version=1, digest=digest), split or corpus())


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHSUITE_CACHE", str(tmp_path))
    return tmp_path


def test_texts_are_padded_to_the_longest_present() -> None:
    tokens = words()(TEXTS)
    lengths = [len(words()([text]).ids[0]) for text in TEXTS]
    assert tokens.ids.shape == tokens.mask.shape == (3, max(lengths))
    assert tokens.mask.sum(1).tolist() == lengths
    assert (tokens.ids[tokens.mask == 0] == PAD).all()
    assert (tokens.ids[tokens.mask == 1] != PAD).all()


def test_a_text_begins_and_ends_with_its_marks() -> None:
    tokens = words()(TEXTS)
    ends = tokens.mask.sum(1) - 1
    assert tokens.ids[:, 0].tolist() == [CLS] * 3
    assert tokens.ids[torch.arange(3), ends].tolist() == [SEP] * 3


def test_truncation_keeps_the_end_mark() -> None:
    whole, cut = words()(TEXTS), words(max_tokens=5)(TEXTS)
    assert cut.ids.shape == (3, 5)
    assert cut.ids[:, -1].tolist() == [SEP] * 3
    assert torch.equal(cut.ids[:, :4], whole.ids[:, :4])


def test_case_does_not_matter_and_strange_letters_are_unknown() -> None:
    assert torch.equal(words()(["A Red CIRCLE"]).ids, words()(["a red circle"]).ids)
    assert words()(["漢"]).ids[0].tolist() == [CLS, UNK, SEP]


def test_letters_are_normalised_one_by_one_as_in_their_texts() -> None:
    """The alphabet of ten million captions is that of their different letters."""
    every = [chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point < 0xE000]
    normalize = BertNormalizer(lowercase=True).normalize_str
    in_words = set().union(*(normalize(f"a{''.join(every[i : i + 7])}") for i in range(0, len(every), 7)))
    assert set(normalize("".join(every))) == in_words
    pieces = json.loads(module.train_tokenizer(60, [["Éa É"], ["ΣÅ", "b"]]).to_str())["model"]["vocab"]
    assert list(pieces)[4:9] == ["a", "b", "e", "σ", "##a"]


def test_vocabulary_is_at_most_what_was_asked_for_and_begins_with_the_marks(fresh_cache: Path) -> None:
    assert words(vocabulary=60).size <= 60
    (file,) = (fresh_cache / "tokenizers").glob("*.json")
    vocabulary = json.loads(file.read_text("utf-8"))["model"]["vocab"]
    assert [vocabulary[word] for word in SPECIAL] == [0, 1, 2, 3]


def test_a_cached_tokenizer_is_not_trained_again(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = words()(TEXTS).ids
    monkeypatch.setattr(module, "train_tokenizer", None)
    assert torch.equal(words()(TEXTS).ids, before)


def test_other_data_have_another_tokenizer(fresh_cache: Path) -> None:
    words(digest="one")
    words(digest="two", split=corpus(["entirely other words"]))
    assert len(list((fresh_cache / "tokenizers").glob("*.json"))) == 2


def test_paraphrases_are_part_of_the_words() -> None:
    assert UNK in words(digest="without")(["ωx"]).ids
    paraphrased = corpus(TEXTS, ["ωx ωx"] * 3)
    assert UNK not in words(digest="with", split=paraphrased)(["ωx"]).ids
    apart = Data(name="tiny", version=1, digest="apart", paraphrases="a digest of their own")
    assert UNK in words_for(TextTower(transformer="distilbert", vocabulary=80), apart, paraphrased)(["ωx"]).ids


REBUILD = """
import numpy as np
from benchsuite.data.base import Split
from benchsuite.models.tokenizer import words_for
from benchsuite.setup import Data
from benchsuite.tower_settings import TextTower
texts = ["a red circle", "a large blue square over a small yellow star", "the green ring beside a red cross"]
split = Split("train", np.zeros((3, 2, 2, 3), np.uint8), [[text] for text in texts])
print(words_for(TextTower(transformer="distilbert", vocabulary=80), Data(name="tiny"), split)(texts).ids.tolist())
"""


def test_another_process_builds_the_same_tokenizer(fresh_cache: Path) -> None:
    here = words()(TEXTS).ids.tolist()
    settings = {**os.environ, "BENCHSUITE_CACHE": str(fresh_cache / "other"), "PYTHONHASHSEED": "123"}
    told = subprocess.run([sys.executable, "-c", REBUILD], check=True, capture_output=True, text=True, env=settings)
    assert json.loads(told.stdout) == here


@given(st.lists(st.text(st.sampled_from("ab red ΣéÉ́​İß中\t\n\x00ﬁ한ᄀ-'[]")), min_size=1), st.integers(1, 9))
def test_remembered_words_give_the_ids_of_the_whole_text(texts: list[str], most: int) -> None:
    trained = module.train_tokenizer(80, [TEXTS])
    remembered = module.RememberedWords(trained)
    remembered.most = 3
    whole = [e.ids if len(e.ids) <= most else [*e.ids[: most - 1], e.ids[-1]] for e in trained.encode_batch_fast(texts)]
    assert remembered(texts, most) == whole
    assert remembered(texts, most) == whole
    assert len(remembered._known) <= remembered.most

"""Words to ids: a tokenizer trained on the data's captions, or the one of a pretrained text tower."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing
from tokenizers.trainers import WordPieceTrainer
from torch import Tensor

from benchsuite.canonical import short_digest
from benchsuite.data.base import Split, Texts, TextsOfImages, Vectors
from benchsuite.data.cached import made_once
from benchsuite.errors import UsageError, first_line
from benchsuite.paths import cache
from benchsuite.setup import Data
from benchsuite.tower_settings import TextTower

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
PAD = SPECIAL.index("[PAD]")
Files = dict[str, bytes]
TOKENIZER_FILE = "tokenizer.json"


@dataclass(frozen=True)
class Tokens:
    """Ids and mask of a batch, [B, L], padded to its longest text."""

    ids: Tensor
    mask: Tensor

    def to(self, device: torch.device, non_blocking: bool = False) -> "Tokens":
        return Tokens(*(part.to(device, non_blocking=non_blocking) for part in (self.ids, self.mask)))

    def pin_memory(self) -> "Tokens":
        """The same in memory from which a GPU copies by itself."""
        return Tokens(self.ids.pin_memory(), self.mask.pin_memory())

    def __getitem__(self, rows: slice) -> "Tokens":
        """Some rows, padded to their own longest text, as if they had been tokenized apart."""
        length = int(self.mask[rows].sum(1).max())
        return Tokens(self.ids[rows, :length], self.mask[rows, :length])


class Words:
    """Tokenizes lists of texts."""

    def __init__(
        self, tokenizer: Any, max_tokens: int, vocabulary: Mapping[str, int], files: Callable[[], Files] = dict
    ) -> None:
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self.files = files
        """The tokenizer's files by name, made when they are asked for; none where texts are vectors."""
        self.size = len(vocabulary)
        self.digest = short_digest(dict(vocabulary))

    def __call__(self, texts: Texts | Vectors) -> Tokens | Tensor:
        """Ids and mask, truncated to `max_tokens` and padded to the longest text."""
        encoded = self._tokenizer(list(texts), self._max_tokens)
        length = max(len(ids) for ids in encoded)
        ids = torch.tensor([row + [PAD] * (length - len(row)) for row in encoded])
        mask = torch.arange(length) < torch.tensor([len(row) for row in encoded])[:, None]
        return Tokens(ids, mask.long())


def words_for(tower: TextTower, data: Data, split: Split) -> Words:
    """The tokenizer of a text tower; one trained on `split` is cached under the data's digest.

    It learns from what that digest covers: not from paraphrases that have their own, which only some methods read.
    """
    if tower.pretrained:
        return pretrained_words(tower)
    assert tower.vocabulary is not None
    return _from_tokenizer(_trained(tower.vocabulary, data, split), tower.max_tokens)


def pretrained_words(tower: TextTower) -> Words:
    """The tokenizer of a pretrained text tower."""
    try:
        return _pretrained(tower.source, tower.max_tokens)
    except (OSError, ValueError) as error:  # neither on this machine nor on a hub that answers
        raise UsageError(f'text tower "{tower.source}": it cannot be read: {first_line(error)}') from error


def words_in(folder: Path, tower: TextTower) -> Words:
    """The tokenizer of a text tower from the folder that its `Words.files` were written to."""
    if tower.pretrained:
        return _pretrained(str(folder), tower.max_tokens)
    return _from_tokenizer(Tokenizer.from_file(str(folder / TOKENIZER_FILE)), tower.max_tokens)


def _pretrained(name: str, max_tokens: int) -> Words:
    from transformers import AutoTokenizer

    pretrained = AutoTokenizer.from_pretrained(name)

    def encode(texts: list[str], longest: int) -> Any:
        return pretrained(texts, truncation=True, max_length=longest)["input_ids"]

    return Words(encode, max_tokens, pretrained.get_vocab(), lambda: tokenizer_files(pretrained))


def tokenizer_files(pretrained: Any) -> Files:
    """The files of a tokenizer of transformers by name."""
    with TemporaryDirectory() as folder:
        pretrained.save_pretrained(folder)
        made = {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}
    return {name: _without_places(content) if name.endswith(".json") else content for name, content in made.items()}


def plain_config(config: Any) -> dict[str, Any]:
    """A configuration of transformers without where it was read from."""
    content: dict[str, Any] = json.loads(_without_places(config.to_json_string(use_diff=False).encode()))
    return content


def _without_places(content: bytes) -> bytes:
    """A tokenizer's settings without where they were read from, which is a path of this machine."""
    settings = json.loads(content)
    if not isinstance(settings, dict) or not {"name_or_path", "_name_or_path"} & settings.keys():
        return content
    kept = {key: value for key, value in settings.items() if key not in ("name_or_path", "_name_or_path")}
    return json.dumps(kept, indent=2, ensure_ascii=False).encode()


def _from_tokenizer(tokenizer: Tokenizer, max_tokens: int) -> Words:
    remembered, vocabulary = RememberedWords(tokenizer), tokenizer.get_vocab()
    return Words(remembered, max_tokens, vocabulary, lambda: {TOKENIZER_FILE: tokenizer.to_str().encode()})


class RememberedWords:
    """A trained tokenizer that remembers the ids of what stands between spaces.

    It is exact: a space ends a word, whatever is around it, and nothing else in the tokenizer reads past a word's end.
    """

    most = 2**16
    """How many are remembered; others are encoded each time."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._begin, self._end = tokenizer.encode("").ids
        self._known: dict[str, list[int]] = {}

    def __call__(self, texts: list[str], max_tokens: int) -> list[list[int]]:
        """Ids of each text between the marks of its beginning and end, truncated in front of the latter."""
        words = [text.split(" ") for text in texts]
        known = self._known
        if new := [*{word: None for each in words for word in each if word not in known}]:
            encoded = self._tokenizer.encode_batch_fast(new, add_special_tokens=False)
            found = dict(zip(new, (e.ids for e in encoded), strict=True))
            self._known |= dict(islice(found.items(), self.most - len(known)))
            known = {**known, **found} if len(self._known) == self.most else self._known
        rows = [[self._begin, *chain.from_iterable(map(known.__getitem__, each)), self._end] for each in words]
        return [[*row[: max_tokens - 1], row[-1]] if len(row) > max_tokens else row for row in rows]


def _trained(vocabulary: int, data: Data, split: Split) -> Tokenizer:
    key = short_digest(
        {"data": data.model_dump(mode="json"), "split": split.name, "vocabulary": vocabulary, "version": 2}
    )
    file = cache() / "tokenizers" / f"{data.name}-{key}.json"
    captions = split.captions_for("a text tower")
    paraphrases = split.paraphrases if data.paraphrases is None else ()
    made_once(file, lambda draft: train_tokenizer(vocabulary, captions, paraphrases).save(str(draft)))
    return Tokenizer.from_file(str(file))


def train_tokenizer(vocabulary: int, *parts: TextsOfImages) -> Tokenizer:
    """A WordPiece tokenizer of at most that many entries, the same each time it is trained.

    The trainer numbers letters in the order of a hash table, which differs each time. So it gets them in order, as
    special tokens, and the tokenizer is then built from the vocabulary that it learned.
    """
    letters = set(chain.from_iterable(text for texts in chain.from_iterable(parts) for text in texts))
    # it maps each letter by itself, so that letters need no pass over the normalised texts
    normalized = set(BertNormalizer(lowercase=True).normalize_str("".join(letters)))
    alphabet = sorted(c for c in normalized if not c.isspace())
    pieces = [*SPECIAL, *alphabet, *(f"##{letter}" for letter in alphabet)]
    trained = _empty(WordPiece(unk_token="[UNK]"))
    trained.train_from_iterator(
        ([*texts] for texts in chain.from_iterable(parts)),
        WordPieceTrainer(vocab_size=vocabulary, special_tokens=pieces, show_progress=False),
    )
    ordered = dict(sorted(trained.get_vocab().items(), key=lambda item: item[1]))
    tokenizer = _empty(WordPiece(ordered, unk_token="[UNK]"))
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.post_processor = BertProcessing(*((word, SPECIAL.index(word)) for word in ("[SEP]", "[CLS]")))
    return tokenizer


def _empty(model: WordPiece) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer

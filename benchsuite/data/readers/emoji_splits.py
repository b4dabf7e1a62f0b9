"""Which pictures of emoji are held out, and which a long-tailed version keeps: by hashes, nothing is drawn."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence, Set

from benchsuite.data.readers.emoji import Emoji
from benchsuite.data.readers.emoji_clones import CATEGORIES, OTHER
from benchsuite.errors import UsageError

VERSION = 1
"""Part of every hash: another version holds out other pictures."""


def held_out(rows: Sequence[Emoji], sizes: Sequence[int]) -> list[list[int]]:
    """Positions of as many pictures as asked for, in lists that share no concept, in the order of their hashes.

    Each is the picture without skin tone of a concept in one style; the concept has a picture in another style. A
    concept without a category, with another's name, or whose picture is also another's is never held out.
    """
    plain = [i for i, row in enumerate(rows) if row.tone == 0]
    drawn = Counter(rows[i].picture for i in plain)
    named = Counter(name for name, _ in {(rows[i].name, rows[i].base) for i in plain})
    styles: dict[str, list[int]] = defaultdict(list)
    for i in plain:
        styles[rows[i].base].append(i)
    candidates = []
    for base, own in styles.items():
        free = [i for i in own if drawn[rows[i].picture] == 1 and rows[i].category != OTHER]
        if len(own) > 1 and free and named[rows[free[0]].name] == 1:
            candidates.append(min((_hash(base, rows[i].style), i) for i in free))
    if len(candidates) < sum(sizes):
        raise UsageError(
            f"emoji: {' + '.join(map(str, sizes))} pictures are to be held out, but only {len(candidates)} concepts "
            "are drawn in two styles. Set the options test and validation."
        )
    chosen = iter([i for _, i in sorted(candidates)])
    return [[next(chosen) for _ in range(size)] for size in sizes]


def long_tailed(rows: Sequence[Emoji], train: Sequence[int], asked: Set[str], tail: float) -> list[int]:
    """Positions of a long-tailed version: category number r by size keeps the share r^-tail of what the first has.

    It keeps what it has if that is less, and at least one picture of each concept that is asked for in a test.
    """
    members: dict[str, list[int]] = {category: [] for category in CATEGORIES}
    for i in sorted(train, key=lambda i: _hash(rows[i].base, rows[i].sequence, rows[i].style)):
        members[rows[i].category].append(i)
    by_size = sorted(members, key=lambda category: (-len(members[category]), category))
    kept = []
    for rank, category in enumerate(by_size, 1):
        first = {rows[i].base: i for i in reversed(members[category]) if rows[i].base in asked}
        needed = set(first.values())
        ordered = sorted(members[category], key=lambda i: i not in needed)
        kept += ordered[: max(len(needed), int(len(members[by_size[0]]) * rank**-tail))]
    return sorted(kept)


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join((str(VERSION), *parts)).encode()).hexdigest()

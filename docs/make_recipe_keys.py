"""Write docs/recipe-keys.md, every key of a recipe, from `list recipes --keys --json`, which comes on standard input.

benchsuite list recipes --keys --json | python docs/make_recipe_keys.py
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

PAGE = Path(__file__).parent / "recipe-keys.md"
HEAD = """# Keys of a recipe

Made by `benchsuite list recipes --keys --json | python docs/make_recipe_keys.py`. NAME stands for any name. A key
without a default must be given, unless the table that it is in is optional and absent. A misspelt key is an error that
names its line.

| key | values | default | what |
|---|---|---|---|
"""


def lines(items: list[Mapping[str, str]]) -> Iterator[str]:
    """A line for each key."""
    for item in items:
        cells = (f"`{item['name']}`", item["values"], item["default"], item["doc"])
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


if __name__ == "__main__":
    PAGE.write_text(HEAD + "".join(lines(json.load(sys.stdin))), "utf-8")

"""A user's folder of tables and recipes: one table of three rows, of which nothing is published, and a tiny recipe."""

from pathlib import Path

from benchsuite.paths import baselines

TABLE = """
file_format = 1
paper = "mine"
table = "first"
locator = "Table 1"
title = "My method"
recipes = { smoke = "tiny" }

[[columns]]
key = "ir1"
group = "Test images"
label = "IR@1"
measure = "retrieval.t2i_r1"

[[columns]]
key = "tr1"
group = "Test images"
label = "TR@1"
measure = "retrieval.i2t_r1"

[[rows]]
label = "InfoNCE"
backbone = "RN50"
method = "infonce"

[[rows]]
label = "TS"
backbone = "RN50"
method = "ts"

[[rows]]
label = "TeMo"
backbone = "RN50"
role = "proposed"
method = "temo"

[[claims]]
statement = "TeMo is better than InfoNCE"
locator = "abstract"
row = "TeMo"
reference = "InfoNCE"
columns = ["ir1", "tr1"]
headline = "ir1"
"""
NAME = "mine/first"
FILE = "papers/mine/first.toml"


def own_folder(folder: Path, table: str = TABLE, name: str = NAME, recipe: str = "tiny") -> Path:
    """The folder; other tables and recipes are added to what it has."""
    file = folder / "papers" / f"{name}.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(table)
    text = (baselines() / "recipes" / "scenes-smoke.toml").read_text()
    for usual, small in (("train = 1000, validation = 200, test = 200", "train = 96, validation = 40, test = 40"),
                         ("steps = 15", "steps = 2")):  # fmt: skip
        assert usual in text
        text = text.replace(usual, small)
    (folder / "recipes").mkdir(exist_ok=True)
    (folder / "recipes" / f"{recipe}.toml").write_text(text)
    return folder

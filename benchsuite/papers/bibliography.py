"""The papers that methods cite: baselines/bibliography.toml, by citation key."""

from functools import cache

from pydantic import BaseModel, ConfigDict, RootModel

from benchsuite.paths import baselines
from benchsuite.toml_files import read_toml


class Cited(BaseModel):
    """A paper, as far as it is cited here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    authors: str = ""
    """`Yeh et al.` or `Chen and He`; empty for a paper that its title names."""
    title: str
    year: int | None = None

    @property
    def text(self) -> str:
        """`Chen and He, Exploring Simple Siamese Representation Learning, 2021`."""
        return ", ".join(filter(None, (self.authors, self.title, str(self.year or ""))))


class _Bibliography(RootModel[dict[str, Cited]]):
    """By citation key."""


@cache
def bibliography() -> dict[str, Cited]:
    """All of them."""
    return read_toml(baselines() / "bibliography.toml", _Bibliography).root

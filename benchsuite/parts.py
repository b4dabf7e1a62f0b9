"""The base of every group of settings: of setups, recipes, table files and records."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

Plain = dict[str, Any]
NOTHING: Mapping[Any, Any] = {}
"""What a function is given if it is given none."""


class Part(BaseModel):
    """A frozen group of settings; a misspelt key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __copy__(self) -> Self:
        """A copy, such as `model_copy` updates, computes anew what follows from the settings."""
        copy = super().__copy__()
        for name in [name for name in copy.__dict__ if name not in type(self).model_fields]:
            del copy.__dict__[name]
        return copy

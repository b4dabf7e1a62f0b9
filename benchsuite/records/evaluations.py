"""Evaluations of models that were not trained for a row: `evaluations/<model>-<id>.json` in a results folder.

They are no runs: they have no method, seed or training setup, so nothing pairs them, ranks them or claims with them.
A board shows one below its rows where a protocol and its data are equal.
"""

import json
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import model_validator

from benchsuite.canonical import short_digest
from benchsuite.files import write_whole
from benchsuite.records.kinds import wrong_kinds
from benchsuite.records.names import AWKWARD, EVALUATIONS
from benchsuite.records.schema import Result, Sidecar, content_digest, contradictions, require_sealed
from benchsuite.setup import Data, Part, Protocol


class Model(Part):
    """What was evaluated."""

    name: str
    """As it was asked for; of a folder its last name. Of a run's towers its method, seed and run."""
    library: str
    """With its version."""
    weights: str
    """Digest of all parameters and buffers."""
    sides: tuple[str, ...]
    """image, text, or both."""
    size: int | None = None
    """Side of its pictures in pixels."""
    run: str | None = None
    """The run_id, where the towers are those of a run."""


class Evaluation(Part):
    """A model under some protocols. Written once; `digest` covers everything else in it."""

    evaluation_format: Literal[1] = 1
    evaluation_id: str
    """Digest of the model's weights, the data and the protocols."""
    model: Model
    data: Data
    protocols: dict[str, Protocol]
    results: dict[str, Result]
    environment: dict[str, Any]
    created: str
    ranks: Sidecar
    digest: str

    @classmethod
    def seal(cls, **content: Any) -> Self:
        """From its content, with identity and digest filled in."""
        unsealed = cls.model_construct(evaluation_id="", digest="", **content)
        identified = unsealed.model_copy(update={"evaluation_id": unsealed.own_id()})
        plain = identified.model_dump(mode="json")
        return cls.model_validate({**plain, "digest": content_digest(plain)})

    def own_id(self) -> str:
        """The identity that its content gives."""
        protocols = {name: protocol.model_dump(mode="json") for name, protocol in self.protocols.items()}
        data = self.data.model_dump(mode="json")
        return short_digest({"weights": self.model.weights, "data": data, "protocols": protocols})

    @property
    def file_name(self) -> str:
        """Without ending."""
        return f"{AWKWARD.sub('-', self.model.name).strip('.-') or 'model'}-{self.evaluation_id}"

    @model_validator(mode="before")
    @classmethod
    def _is_as_sealed(cls, content: Any) -> Any:
        return require_sealed(content)

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if self.own_id() != self.evaluation_id:
            raise ValueError(f"evaluation_id is {self.evaluation_id}, but its content gives {self.own_id()}")
        if set(self.protocols) != set(self.results):
            raise ValueError("protocols and results are not of the same names")
        if Path(self.ranks.file).name != self.ranks.file:
            raise ValueError(f'ranks.file is "{self.ranks.file}", but ranks lie beside their evaluation')
        if problem := next(wrong_kinds({}, self.environment), None):
            raise ValueError(problem)
        for name, result in self.results.items():
            if problem := next(iter(contradictions(result.metrics)), None):
                raise ValueError(f"{name}: {problem}")
        return self


def write_evaluation(results: Path, evaluation: Evaluation, ranks: bytes) -> Path:
    """Store it, ranks first; a second one of the same model, data and protocols keeps the first."""
    folder = results / EVALUATIONS
    path = folder / f"{evaluation.file_name}.json"
    write_whole(folder / evaluation.ranks.file, ranks, overwrite=False)
    text = json.dumps(evaluation.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"
    write_whole(path, text.encode(), overwrite=False)
    return path

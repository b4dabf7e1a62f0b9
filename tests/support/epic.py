"""EPIC-KITCHENS-100's retrieval files, where the shared data is."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from benchsuite.data.readers.tables import read_csv
from benchsuite.evaluation.relevancy import Actions, relevancy_parts

FOLDER = Path(__file__).parents[2].parent / "shared" / "data" / "epic100"


def relevancies() -> NDArray[np.float64]:
    """[clips, sentences] of the official test files; a sentence has the classes of the clip with its id."""
    if not FOLDER.is_dir():
        pytest.skip(f"{FOLDER} is not here: the shared data is not part of the repository")
    clips = read_csv(FOLDER / "EPIC_100_retrieval_test.csv", ("narration_id", "verb_class", "all_noun_classes"))
    sentences = read_csv(FOLDER / "EPIC_100_retrieval_test_sentence.csv", ("narration_id",))
    actions = Actions.of([int(r["verb_class"]) for r in clips], [json.loads(r["all_noun_classes"]) for r in clips])
    place = {row["narration_id"]: i for i, row in enumerate(clips)}
    parts, whole = relevancy_parts(actions, actions.take([place[row["narration_id"]] for row in sentences]))
    return parts / whole

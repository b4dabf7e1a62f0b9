"""What a decorator says of a method must be true of its loss: the gauges that show whether its mechanism acts."""

import torch
from pydantic import ValidationError

from benchsuite.conformance.subject import NotMetError, Subject, modes, parts, tensors
from benchsuite.errors import UnknownError
from benchsuite.methods.base import Clock
from benchsuite.methods.batch import PairBatch
from benchsuite.papers.questions import acts_of


def check_acts(subject: Subject) -> None:
    """Each of `acts` is a premise on gauges that the loss has for all towers, and is off by fields of the method."""
    try:
        acts = acts_of(subject.cls.card.about)
    except ValidationError as error:
        raise NotMetError(f"acts: {error.errors()[0]['msg']}") from error
    for act in acts:
        for mode in modes(subject.template):
            torch.manual_seed(0)
            rows = tensors(parts(subject.template, mode), 6, seed=1)
            gauges = subject.make()(PairBatch(**rows), Clock(2, 4)).gauges
            for gauge in act.premise.gauges:
                if gauge not in gauges:
                    raise NotMetError(str(UnknownError("gauge", gauge, gauges, f"acts, {mode}: ")))
        for field in {name for off in act.off for name in off} - subject.fields.keys():
            raise NotMetError(str(UnknownError("hyper-parameter", field, subject.fields, "acts, off: ")))

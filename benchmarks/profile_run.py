"""Where the time of one run goes: start-up, data, towers, augmentation, text, objective, optimizer, engine, evaluation.

A run as `benchsuite run` does it, in this process, with a clock around each part. A part does not contain the time of
parts inside of it. The backward pass is the objective's until all embeddings have their gradient, then the towers'.
With `--warm` the same run was done once before: what is counted is a run of a worker that has done others.

    python benchmarks/profile_run.py [METHOD] [--recipe scenes-small] [--backbone RN50] [--steps N] [--warm] [--json]
"""

import argparse
import functools
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

START, STEP, END = "start-up", "step", "end"
OF = {
    **dict.fromkeys(("libraries", "plan", "data", "towers and engine are made", "text: tokenizer is trained"), START),
    "record": END,
}
"""To which stage a part belongs; all others belong to the steps."""


class Clock:
    """Seconds by part. One part at a time is on; where another begins inside of it, it waits."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.stack = ["loop"]
        self.since = time.process_time()
        self.together = False
        """Whether the part that is on has all of the time of what it calls."""

    def note(self) -> None:
        """Give the time since the last call to the part that is on."""
        now = time.process_time()
        self.seconds[self.stack[-1]] += now - self.since
        self.since = now

    def become(self, part: str) -> None:
        """From here on another part is on in place of this one."""
        self.note()
        self.stack[-1] = part

    def around(self, owner: Any, name: str, part: str) -> None:
        """Count the calls of a function or method as a part."""
        inner = getattr(owner, name)

        @functools.wraps(inner)
        def timed(*args: Any, **kwargs: Any) -> Any:
            if self.together:
                return inner(*args, **kwargs)
            self.note()
            self.stack.append(part)
            try:
                return inner(*args, **kwargs)
            finally:
                self.note()
                self.stack.pop()

        setattr(owner, name, timed)

    def whole(self, owner: Any, name: str, part: str) -> None:
        """The same, with the parts inside of it: the towers of an evaluation are no part of the training's."""
        inner = getattr(owner, name)

        @functools.wraps(inner)
        def apart(*args: Any, **kwargs: Any) -> Any:
            self.together = True
            try:
                return inner(*args, **kwargs)
            finally:
                self.together = False

        setattr(owner, name, apart)
        self.around(owner, name, part)


def instrument(clock: Clock) -> None:
    """Put the clock around the parts of a run."""
    import deepspeed
    import torch

    from benchsuite.execution import measure
    from benchsuite.models.dual_encoder import DualEncoder
    from benchsuite.models.sides import Trained
    from benchsuite.models.tokenizer import Words
    from benchsuite.models.vectors import VectorWords
    from benchsuite.training import loop
    from benchsuite.training.feed import Feed

    clock.around(measure, "opened", "data")
    clock.around(measure, "prepare", "data")
    clock.around(measure, "evaluate", "evaluation: measures")
    clock.whole(Trained, "pictures", "evaluation: pictures, embedded")
    clock.whole(Trained, "texts", "evaluation: texts, embedded")
    clock.around(measure, "pack_ranks", "record")
    clock.around(measure.Record, "seal", "record")
    clock.around(loop, "text_reader", "text: tokenizer is trained")
    for name in ("join_processes", "seeded_encoder", "weights_digest", "start_engine"):
        clock.around(loop, name, "towers and engine are made")
    clock.around(Feed, "__call__", "reading")
    clock.around(Feed, "_pixels", "augmentation")
    clock.around(Words, "__call__", "text: words to ids")
    clock.around(VectorWords, "__call__", "text: words to ids")
    clock.around(DualEncoder, "image", "towers: image, forward")
    clock.around(DualEncoder, "text", "towers: text, forward")
    clock.around(loop.Trainee, "parts", "shares and seeds")
    clock.around(loop.Trainee, "loss", "objective, forward")
    engine = deepspeed.DeepSpeedEngine
    for name in ("forward", "backward", "step"):
        clock.around(engine, name, f"engine, {name}")
    clock.around(torch.autograd, "backward", "objective, backward")
    clock.around(loop, "make_optimizer", "towers and engine are made") if hasattr(loop, "make_optimizer") else None
    for name in ("gradient_norm", "centroid_gap"):
        clock.around(loop, name, "curves")
    clock.around(loop.Curves, "add", "curves")
    for name in ("set_learning_rate", "finish_step", "follow_student", "require_finite"):
        clock.around(loop, name, f"loop: {name}")
    clock.around(loop.Saver, "after", "checkpoints")
    start_engine = loop.start_engine

    def started(*args: Any) -> Any:
        made = start_engine(*args)
        clock.around(made.optimizer, "step", "optimizer")
        return made

    loop.start_engine = started
    _mark_embeddings(clock, loop.Trainee)


def _mark_embeddings(clock: Clock, trainee: Any) -> None:
    """Once an embedding has its gradient, what follows is its tower's: autograd takes later operations first."""
    inner = trainee.parts

    @functools.wraps(inner)
    def parts(*args: Any) -> Any:
        rows = inner(*args)
        for name, row in rows.items():
            if row.requires_grad:
                row.register_hook(functools.partial(lambda name, _: clock.become(f"towers: {name}, backward"), name))
        return rows

    trainee.parts = parts


def profile(method: str, recipe: str, backbone: str, steps: int | None, warm: bool = False) -> dict[str, Any]:
    """Seconds of each part of a run; `warm`: of its second time in this process."""
    clock = Clock()
    clock.since = 0.0  # when this process started
    clock.stack = ["libraries"]
    import torch

    from benchsuite.execution.measure import take_part
    from benchsuite.planning.plan import plan_run
    from benchsuite.training.deepspeed_deviations import import_deepspeed

    torch.set_num_threads(1)
    import_deepspeed()
    clock.become("plan")
    run = plan_run(method, recipe, backbone, 0, {})
    if steps:
        training = run.setup.training.model_copy(update={"steps": steps})
        run = run.model_copy(update={"setup": run.setup.model_copy(update={"training": training})})
    if warm:
        with tempfile.TemporaryDirectory() as folder:
            take_part(run, folder=Path(folder))
        clock.seconds.clear()
        clock.since = time.process_time()
    instrument(clock)
    clock.become("loop")
    with tempfile.TemporaryDirectory() as folder:
        measured = take_part(run, folder=Path(folder))
    clock.note()
    assert measured is not None
    return {
        "method": method,
        "recipe": recipe,
        "backbone": backbone,
        "steps": run.steps,
        "seconds": dict(clock.seconds),
        "loss": measured.record.curves["loss"][-1],
    }


def stage_of(part: str) -> str:
    """Start-up, the steps, or the end."""
    return END if part.startswith("evaluation") else OF.get(part, STEP)


def show(found: dict[str, Any], write: Callable[[str], None] = print) -> None:
    """The parts by stage, the largest first, with shares of the whole and milliseconds a step."""
    total = sum(found["seconds"].values())
    write(f"{found['recipe']}, {found['backbone']}, {found['method']}, {found['steps']} steps: {total:.1f} s")
    for stage in (START, STEP, END):
        parts = {part: s for part, s in found["seconds"].items() if stage_of(part) == stage}
        sum_of = sum(parts.values())
        write(f"{stage}: {sum_of:.1f} s, {sum_of / total:.1%}")
        for part, seconds in sorted(parts.items(), key=lambda item: -item[1]):
            each = f"{1000 * seconds / found['steps']:9.2f} ms a step" if stage == STEP else ""
            write(f"  {part:<30} {seconds:8.2f} s {seconds / total:6.1%} {each}")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("method", nargs="?", default="infonce")
    parser.add_argument("--recipe", default="scenes-small")
    parser.add_argument("--backbone", default="RN50")
    parser.add_argument("--steps", type=int, help="fewer or more steps than the recipe's")
    parser.add_argument("--warm", action="store_true", help="count the second of two runs, as workers do most")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    given = parser.parse_args()
    found = profile(given.method, given.recipe, given.backbone, given.steps, given.warm)
    print(json.dumps(found)) if given.json else show(found)


if __name__ == "__main__":
    main()

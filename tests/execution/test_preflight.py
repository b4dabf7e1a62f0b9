"""Nothing fails late: what would end a run is found before its first step, all of it, by the real command line."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from support.commands import exit_code
from support.real_files import write_pairs

from benchsuite.execution import preflight as module
from benchsuite.execution.dry_pass import Objective
from benchsuite.execution.measure import measure
from benchsuite.execution.preflight import preflight
from benchsuite.planning.plan import Run, plan_run
from benchsuite.records.schema import MethodPart, TunedBy
from benchsuite.records.store import Store
from benchsuite.setup import Setup

RECIPE = """
title = "Tiny"
track = "scenes"
description = "Two steps."
seeds = 1
projection = { width = 8 }
optimizer = { lr = 1e-3 }

[backbones.tiny]
description = "test_resnet"
tower = { timm = "test_resnet" }
"""
TEXT = """transformer = "distilbert"
vocabulary = 100
max_tokens = 8
config = { dim = 8, n_layers = 1, n_heads = 1, hidden_dim = 8, max_position_embeddings = 8 }"""
PARTS = {
    "text": TEXT,
    "data": 'name = "scenes"\noptions = { train = 64, validation = 8, test = 8, gallery = 8 }',
    "training": "batch = 8\nsteps = 2",
    "protocols.retrieval": 'task = "retrieval"',
}


def write_recipe(folder: Path, changes: Mapping[str, str]) -> str:
    text = "".join(f"\n[{name}]\n{part}\n" for name, part in {**PARTS, **changes}.items())
    (folder / "tiny.toml").write_text(RECIPE + text)
    return str(folder / "tiny.toml")


Refused = Callable[..., list[str]]


@pytest.fixture
def refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Refused:
    """`refused(method, changes, *arguments)`: the problems for which `benchsuite run` refuses to start."""

    def problems(method: str, changes: Mapping[str, str], *arguments: object) -> list[str]:
        recipe = write_recipe(tmp_path, changes)
        results = tmp_path / "runs"
        assert exit_code("run", method, "--recipe", recipe, "--results", results, *arguments) == 2
        first, *others = capsys.readouterr().err.strip().split("\n")
        assert first.startswith("benchsuite: ")
        assert first.endswith("before the first step; nothing was run.")
        assert not results.exists()
        return [line.strip().removeprefix(f"recipe {recipe}, ") for line in others]

    return problems


WRONG = {
    "protocols.a": 'task = "retrieval"\noptions = { split = "tset" }',
    "protocols.b": 'task = "zero-shot"\noptions = { classes = "colour", templates = "scenes-8" }',
    "protocols.c": 'task = "multi-instance-retrieval"',
    "protocols.d": 'task = "knn"\noptions = { classes = "colours", bank = "trian" }',
    "protocols.e": 'task = "sts"',
    "protocols.own": """task = "retrieval"
options = { split = "gallry" }
data = { name = "scenes", options = { train = 8, validation = 8, test = 8, gallery = 8, seed = 1 } }""",
}
SAID = {
    "a": ['split "tset" does not exist (known: gallery, test, train, validation). Did you mean "test"?'],
    "b": ['set of templates "scenes-8" does not exist'],
    "c": ['set of labels "verb" does not exist (known: both, colour, shape)'],
    "d": ['split "trian" does not exist', 'set of classes "colours" does not exist'],
    "e": ["sts: reads sentence pairs (datasets senteval, scenes-sts), not scenes."],
    "own": ['split "gallry" does not exist'],
}


def test_all_problems_of_a_run_are_listed_together(refused: Refused) -> None:
    problems = refused("mm-ts", {**WRONG, "training": "batch = 65\nsteps = 2", "clusters": 'labels = "shap"'})
    for name, said in SAID.items():
        assert all(any(f"protocol {name} " in problem and one in problem for problem in problems) for one in said)
    assert [problem for problem in problems if not problem.startswith("protocol ")] == [
        "training: batch 65 is larger than split train with 64 pairs. "
        "Copy the recipe and set training.batch to 64 or less. [tiny mm-ts]",
        'clusters: split train: set of classes "shap" does not exist (known: both, colour, shape). '
        'Did you mean "shape"? [tiny mm-ts]',
    ]


def test_a_tower_that_cannot_be_read_is_one_problem_of_all_methods(tmp_path: Path) -> None:
    text = f'transformer = "{tmp_path}/absent"\npretrained = true\nmax_tokens = 8'
    recipe = write_recipe(tmp_path, {"text": text})
    (problem,) = preflight([plan_run(name, recipe, "tiny", 0, {}) for name in ("infonce", "ts")], tmp_path).problems
    assert problem.where.endswith(", method ts")
    assert problem.what.startswith(f'text tower "{tmp_path}/absent": it cannot be read: ')
    assert "\n" not in problem.what
    assert problem.rows == ("tiny infonce", "tiny ts")


def test_an_option_that_is_not_possible_is_refused_before_data_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {"protocols.f": 'task = "knn"\noptions = { classes = "colour", side = "txt" }'}
    assert exit_code("run", "infonce", "--recipe", write_recipe(tmp_path, wrong)) == 2
    assert "protocol f (task knn): knn: side = 'txt' is not possible" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("method", "changes", "said"),
    [
        ("mm-ts", {}, "method mm-ts: mm-ts needs cluster, which the setup does not provide"),
        ("mm-ts", {"clusters": "k = 65"}, "clusters: 65 clusters of 64 images"),
        ("mm-ts", {"clusters": 'embedding = "tfidf"\nk = 2'}, 'clusters: embedding "tfidf" does not exist'),
        (
            "mm-ts",
            {"clusters": 'embedding = "transformer"\noptions = { model = "/absent" }\nk = 2'},
            'clusters: text expert "/absent": it cannot be loaded',
        ),
        (
            "softclip",
            {
                "experts.image": 'embedding = "pixel-svd"',
                "experts.text": 'embedding = "transformer"\noptions = { model = "/absent" }',
            },
            'experts.text: text expert "/absent": it cannot be loaded',
        ),
        ("simclr", {}, "method simclr: simclr trains "),
    ],
)
def test_what_a_method_needs_is_checked(refused: Refused, method: str, changes: Mapping[str, str], said: str) -> None:
    (problem,) = refused(method, changes)
    assert problem.startswith(said)


def test_devices_that_cannot_share_a_batch_are_refused(refused: Refused) -> None:
    changes = {"training": "batch = 8\nsteps = 2\nprocesses = 4"}
    (problem,) = refused("infonce", changes, "--devices", "3")
    assert problem.startswith("training: the setup is for 4 processes, and 3 devices cannot take equal numbers")
    assert "one of 1, 2, 4." in problem


def test_a_batch_that_the_processes_cannot_share_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = write_recipe(tmp_path, {"training": "batch = 8\nsteps = 2\nprocesses = 3"})
    assert exit_code("run", "infonce", "--recipe", recipe, "--results", tmp_path / "runs") == 2
    (line,) = capsys.readouterr().err.strip().split("\n")
    assert "tiny.toml" in line
    assert "a batch of 8 is not divisible by 3 processes" in line


def test_missing_paraphrases_are_found_for_the_method_that_reads_them_alone(refused: Refused, tmp_path: Path) -> None:
    folder = write_pairs(write_pairs(tmp_path / "cc3m"), 4, "validation")
    changes = {
        "data": 'name = "cc3m"\noptions = { size = 32 }',
        "protocols.retrieval": 'task = "retrieval"\noptions = { split = "validation" }',
    }
    (problem,) = refused("amclr", changes, "--data", f"cc3m={folder}")
    assert problem.startswith("data cc3m, method amclr: split train has no paraphrases")
    run = plan_run("sogclr", str(tmp_path / "tiny.toml"), "tiny", 0, {}, {"cc3m": str(folder)})
    assert preflight([run], tmp_path).problems == []


def test_wrong_options_of_all_protocols_are_listed_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = {f"protocols.{name}": 'task = "retrieval"\noptions = { spilt = "test" }' for name in ("a", "b")}
    changes["data"] = 'name = "scenes"\noptions = { trian = 64 }'
    assert exit_code("run", "infonce", "--recipe", write_recipe(tmp_path, changes), "--results", tmp_path / "runs") == 2
    told = capsys.readouterr().err.strip().split("\n")
    assert [line.partition('"')[0].strip() for line in told] == [
        "benchsuite: protocol a (task retrieval), protocol b (task retrieval): retrieval: option",
        "scenes: option",
    ]


PLUGIN = """
import torch
from benchsuite import Method, Task, register_method, register_task
from benchsuite.evaluation.base import Scores

@register_task("own", title="Own", version=1, metrics=(), measures=("size",), headline="size")
class Own(Task):
    "Says nothing of what it reads."
    split: str = "test"

    def evaluate(self, embed, dataset):
        return Scores({}, {}, measures={"size": 1.0})

@register_task("telling", title="Telling", version=1, metrics=(), measures=("size",), headline="size")
class Telling(Task):
    "Says what it reads."
    split: str = "test"

    def reads(self, dataset):
        yield lambda: dataset.split(self.split)

    def evaluate(self, embed, dataset):
        return Scores({}, {}, measures={"size": 1.0})

@register_method("wide", title="Wide")
class Wide(Method):
    "Needs a wide batch, and fails at its last step."
    least: int = 4

    def loss(self, batch, clock):
        if len(batch.image) < self.least:
            raise self.refuse(f"a batch of {len(batch.image)} is too small; take {self.least}.")
        if clock.step == 1 and self.least == 5:
            raise ValueError("late")
        return (batch.image - batch.text).square().sum()
"""


def test_a_plugins_task_is_checked_as_far_as_it_tells(refused: Refused, plugin_file: Callable[..., Path]) -> None:
    plugin = plugin_file(PLUGIN)
    changes = {f"protocols.{name}": f'task = "{name}"\noptions = {{ split = "no" }}' for name in ("own", "telling")}
    (problem,) = refused("infonce", changes, "--plugin", plugin)
    assert problem.startswith('protocol telling (task telling): scenes: split "no" does not exist')


@pytest.mark.parametrize(
    ("least", "said"),
    [(9, "wide: a batch of 8 is too small; take 9."), (5, "ended with ValueError: late (mine.py, line 34).")],
)
def test_a_dry_pass_meets_what_the_first_and_the_last_step_would(
    refused: Refused, plugin_file: Callable[..., Path], least: int, said: str
) -> None:
    (problem,) = refused("wide", {}, "--plugin", plugin_file(PLUGIN), "--set", f"least={least}")
    assert problem.startswith("method wide: ")
    assert said in problem


TAUGHT = """
from benchsuite import Method, register_method


@register_method("taught", needs=("{need}",))
class Taught(Method):
    def teacher_momentum(self, clock):
        return 0.5 + clock.progress

    def loss(self, batch, clock):
        return (batch.image - batch.image_teacher).square().mean() + batch.text.sum()
"""


@pytest.mark.parametrize(
    ("need", "said"),
    [
        ("image_techer", 'method taught: taught: need "image_techer" does not exist'),
        ("image_teacher", "method taught: taught: teacher_momentum is 1."),
    ],
)
def test_a_misspelt_need_and_an_impossible_momentum_are_met(
    refused: Refused, plugin_file: Callable[..., Path], need: str, said: str
) -> None:
    plugin = plugin_file(TAUGHT.format(need=need))
    problems = refused("taught", {"training": "batch = 8\nsteps = 100"}, "--plugin", plugin)
    assert problems[0].startswith(said)


def test_towers_that_do_not_fit_their_inputs_are_met(refused: Refused) -> None:
    (problem,) = refused("infonce", {"text": TEXT.replace("max_tokens = 8", "max_tokens = 9")})
    assert "a dry pass of two samples ended with" in problem


def test_memory_and_disk_are_refused_with_their_figures(refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "free_memory", lambda: (100, "are free"))
    monkeypatch.setattr(module, "free_disk", lambda folder: 100)
    memory, disk = refused("infonce", {})
    assert "its objective needs at least" in memory
    assert "bytes for each of 8 x 8 pairs of a batch" in memory
    assert "1 records take up to 0.1 MiB; 0.0 MiB are free on its disk" in disk


@pytest.mark.parametrize(("method", "matrices"), [("infonce", 1), ("wide", 0)])
def test_the_estimate_counts_matrices_of_pairs(
    plugin_file: Callable[..., Path], tmp_path: Path, method: str, matrices: int
) -> None:
    from benchsuite.registry import load_plugin

    load_plugin(plugin_file(PLUGIN))
    run = plan_run(method, write_recipe(tmp_path, {"training": "batch = 32\nsteps = 2"}), "tiny", 0, {})
    checks = module._Checks()
    assert checks.of(run) == []
    (size,) = checks.memory.values()
    assert size == pytest.approx(4 * 32**2 * (matrices + 1), rel=0.2)


def test_a_checked_runs_record_is_that_of_an_unchecked_one(tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path, {"clusters": "k = 4", "training": "batch = 8\nsteps = 4"})
    run = plan_run("mm-ts", recipe, "tiny", 3, {})

    def content() -> dict[str, Any]:
        record = measure(run)[0].as_json()
        return {key: record[key] for key in ("run_id", "results", "curves", "digests", "ranks")}

    unchecked, state = content(), torch.get_rng_state()
    assert preflight([run], tmp_path).problems == []
    assert torch.equal(torch.get_rng_state(), state)
    assert content() == unchecked


def test_a_setup_and_method_is_passed_once_for_all_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = write_recipe(tmp_path, {})
    passed = []
    monkeypatch.setattr(module.DryPass, "__call__", lambda self, *run: passed.append(run) or Objective(0, 0))
    runs = [plan_run(method, recipe, "tiny", seed, {}) for seed in range(3) for method in ("infonce", "ts")]
    preflight(runs, tmp_path)
    assert len(passed) == 2


def replicate_of(recipe: str, replicate: int, tuned: TunedBy | None = None) -> Run:
    """A run with data, a learning rate and a temperature of its own."""
    planned = plan_run("infonce", recipe, "tiny", replicate, {"tau": 0.1 * (1 + replicate)})
    method = planned.method.model_copy(update={"learning_rate": 0.1 + replicate})
    options = planned.setup.data.options | {"seed": replicate}
    data = planned.setup.data.model_copy(update={"options": options, "redrawn": "seed", "digest": f"{replicate}"})
    setup = planned.setup.model_copy(update={"data": data})
    return planned.model_copy(update={"method": method, "setup": setup, "tuned": tuned})


def test_a_row_is_passed_once_for_all_that_its_searches_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[float] = []

    def note(_: object, setup: Setup, part: MethodPart, split: object) -> Objective:
        passed.append(part.hyperparameters["tau"])
        return Objective(0, 0)

    monkeypatch.setattr(module.DryPass, "__call__", note)
    recipe, found = write_recipe(tmp_path, {}), TunedBy(trials=1, trial=0, score=0.5, digest="d", searched=["tau"])
    preflight([replicate_of(recipe, number, found) for number in range(3)], tmp_path)
    assert passed == pytest.approx([0.1])
    preflight([replicate_of(recipe, number) for number in range(3)], tmp_path)
    assert passed[1:] == pytest.approx([0.1, 0.2, 0.3])  # values of different rows


def test_protocols_are_checked_on_the_data_of_each_replicate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class may be empty in one of them."""
    checked = []
    monkeypatch.setattr(module._Checks, "_protocol", lambda _, setup, protocol, data: checked.append(data.place) or [])
    preflight([replicate_of(write_recipe(tmp_path, {}), number) for number in range(3)], tmp_path)
    assert len(set(checked)) == len(checked) == 3


def test_runs_that_may_not_fit_together_are_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [plan_run("infonce", write_recipe(tmp_path, {}), "tiny", seed, {}) for seed in range(2)]
    monkeypatch.setattr(module, "free_memory", lambda: (2**20, "are free"))
    monkeypatch.setattr(module.DryPass, "__call__", lambda self, *run: Objective(0, 2**19 + 1))
    alone, (note,) = (preflight(runs, tmp_path, jobs).notes for jobs in (1, 2))
    assert alone == []
    assert note.startswith("the largest objective needs about 0.5 MiB in each of 2 runs at a time")


def test_kept_weights_that_do_not_fit_are_refused(refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.DryPass, "__call__", lambda self, *run: Objective(0, 0, tower_parameters=2**30))
    monkeypatch.setattr(module, "free_disk", lambda folder: 2**32)
    (problem,) = refused("infonce", {}, "--keep-weights")
    assert "1 records and weights take up to 4.0 GiB; 4.0 GiB are free on its disk" in problem


FAULTY = """
from benchsuite import Method, register_method

@register_method("faulty", title="Faulty")
class Faulty(Method):
    "It has a fault."
    def loss(self, batch, clock):
        return self.missing

@register_method("unready", title="Unready")
class Unready(Method):
    "It refuses its settings."
    def setup(self):
        raise self.refuse("no setting is possible.")

    def loss(self, batch, clock):
        return batch.image.sum()
"""


def test_repro_refuses_all_runs_for_one_problem_and_a_dry_run_lists_the_same(
    tmp_path: Path, plugin_file: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    plugin, told = plugin_file(FAULTY), []
    for more in ([], ["--dry-run"]):
        arguments = ["repro", "temo/table1", "--scale", "smoke", "--rows", "infonce,faulty,unready", "--seeds", "2"]
        paths = ["--results", tmp_path / "runs", "--report", tmp_path / "pages", "--plugin", plugin]
        assert exit_code(*arguments, *paths, *more) == 2
        told.append(capsys.readouterr().err)
    assert told[0] == told[1]
    assert "2 problems before the first step" in told[0]
    assert 'temo/table1, row "Unready": unready: no setting is possible. [RN50 Unready, ViT-B/16 Unready]' in told[0]
    assert "AttributeError" in told[0]
    assert "[RN50 Faulty, ViT-B/16 Faulty]" in told[0]
    assert Store(tmp_path / "runs").read().records == {}
    assert not (tmp_path / "pages").exists()


LARGE = """
from benchsuite import Method, register_method

@register_method("large-dense", title="Dense")
class LargeDense(Method):
    def loss(self, batch, clock):
        return (batch.image @ batch.text.T).exp().logsumexp(1).mean()
"""


@pytest.mark.slow
def test_a_batch_of_16384_is_estimated_in_blocks(
    plugin_file: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchsuite.registry import load_plugin

    load_plugin(plugin_file(LARGE))
    monkeypatch.setattr(module, "free_memory", lambda: (2**30, "are free"))
    data = 'name = "latents"\noptions = { train = 16384, validation = 8, test = 8, galleries = 40 }'
    changes = {
        "data": data,
        "text": "mlp = { layers = 1, hidden = 16 }",
        "training": "batch = 16384\nsteps = 2",
        "clusters": 'labels = "concept"',
    }
    recipe = Path(write_recipe(tmp_path, changes))
    text = recipe.read_text().replace('track = "scenes"', 'track = "latents"')
    recipe.write_text(text.replace('timm = "test_resnet"', "mlp = { layers = 1, hidden = 16 }"))
    checks = module._Checks()
    for method in ("infonce", "temo", "sogclr", "siglip"):
        assert checks.of(plan_run(method, str(recipe), "tiny", 0, {})) == [], method
    assert max(checks.memory.values()) < 2**30
    ((_, problem),) = checks.of(plan_run("large-dense", str(recipe), "tiny", 0, {}))
    assert "its objective needs at least" in problem
    assert "8 bytes for each of 16384 x 16384 pairs of a batch" in problem

from pathlib import Path

import pytest

from benchsuite.cluster.options import ClusterOptions, Layout, read_options
from benchsuite.errors import UsageError
from benchsuite.setup import Data, Optimizer, Protocol, Setup, Training
from benchsuite.tower_settings import ImageTower

FILE = """
partition = "gpu"
gpus_per_node = 8
cpus_per_task = 12
memory = "960G"
time = "2-00:00:00"
setup = ["module load cuda"]

[sbatch]
constraint = "h100"
exclusive = true
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "cluster.toml"
    file.write_text(text)
    return file


def setup_of(processes: int) -> Setup:
    return Setup(
        data=Data(name="scenes"),
        image=ImageTower(timm="test_vit"),
        projection={"width": 8},
        optimizer=Optimizer(lr=1e-3),
        training=Training(batch=processes * 2, steps=2, processes=processes),
        protocols={"retrieval": Protocol(task="retrieval")},
    )


def test_options_of_the_command_line_replace_those_of_the_file(tmp_path: Path) -> None:
    given = ["partition=short", "time=90", "setup=module load gcc", "sbatch.constraint=a100", "sbatch.nice=5"]
    options = read_options(written(tmp_path, FILE), given)
    assert options.model_dump(exclude_defaults=True) == {
        "partition": "short",
        "gpus_per_node": 8,
        "cpus_per_task": 12,
        "memory": "960G",
        "time": "90",
        "setup": ("module load cuda", "module load gcc"),
        "sbatch": {"constraint": "a100", "exclusive": True, "nice": "5"},
    }


@pytest.mark.parametrize(
    ("options", "precision", "said"),
    [
        ({}, "fp32", []),
        ({}, "bf16", ["--cluster-option gpus_per_node=8"]),
        ({"gpus_per_node": 8}, "bf16", ["--cluster-option cpus_per_task=12"]),
        ({"gpus_per_node": 8, "cpus_per_task": 12}, "bf16", []),
    ],
)
def test_what_jobs_of_a_recipe_for_gpus_lack_is_said(options: dict[str, int], precision: str, said: list[str]) -> None:
    setup = setup_of(1)
    setup = setup.model_copy(update={"training": setup.training.model_copy(update={"precision": precision})})
    assert [note.partition(": add ")[2] for note in ClusterOptions(**options).notes([setup])] == said


@pytest.mark.parametrize(
    ("processes", "options", "layout"),
    [
        (1, {}, Layout(1, 1)),
        (4, {}, Layout(1, 4)),
        (4, {"processes_per_node": 2}, Layout(2, 2)),
        (1, {"gpus_per_node": 8}, Layout(1, 1)),
        (8, {"gpus_per_node": 8}, Layout(1, 8)),
        (32, {"gpus_per_node": 8}, Layout(4, 8)),
        (12, {"gpus_per_node": 8}, Layout(2, 6)),
        (7, {"gpus_per_node": 4}, Layout(7, 1)),
        (16, {"gpus_per_node": 8, "processes_per_node": 4}, Layout(4, 4)),
        (16, {"gpus_per_node": 8, "processes_per_node": 16}, Layout(2, 8)),
    ],
)
def test_nodes_follow_from_processes_and_gpus(processes: int, options: dict[str, int], layout: Layout) -> None:
    assert ClusterOptions.model_validate(options).layout(setup_of(processes)) == layout


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("partition", '--cluster-option "partition": write NAME=VALUE, for example --cluster-option partition=gpu.'),
        ("partitoin=gpu", 'option "partitoin" does not exist'),
        ("partitoin=gpu", 'Did you mean "partition"?'),
        ("gpus_per_node=-1", "Input should be greater than or equal to 0"),
        ("sbatch.output=log", "output: follows from the runs and cannot be set"),
        ("sbatch.ntasks_per_node=2", "ntasks-per-node: follows from the runs and cannot be set"),
        ("sbatch.partition=gpu", "partition: give it without sbatch"),
        ("sbatch=x", 'option "sbatch" does not exist'),
    ],
)
def test_a_wrong_option_is_named(given: str, told: str) -> None:
    with pytest.raises(UsageError) as error:
        read_options(None, [given])
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_wrong_key_of_the_file_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r'cluster\.toml, line 3: key "gpu_per_node" does not exist.*"gpus_per_node"'):
        read_options(written(tmp_path, FILE.replace("gpus_per", "gpu_per")), [])


def test_an_absent_file_is_named() -> None:
    with pytest.raises(UsageError, match=r"absent\.toml: no such file"):
        read_options(Path("absent.toml"), [])

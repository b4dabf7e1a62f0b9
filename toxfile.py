"""The environments repro-<paper>-<table>, repro-<paper>, repro-all and repro-table1 of tox."""

from pathlib import Path

from tox.config.loader.memory import MemoryLoader
from tox.config.sets import ConfigSet
from tox.config.types import Command
from tox.plugin import impl
from tox.session.state import State

PAPERS = Path(__file__).parent / "baselines" / "papers"
SHORT = {"repro-table1": "temo/table1", "repro-all": "all"}
USUAL = {"repro-table1": ("--regime", "tuned")}
DECIDE = {"--regime", "--trials", "--scale"}
"""Options after -- that say themselves what is searched; beside any other, the usual ones stay."""


def environments() -> dict[str, str]:
    """Environment name -> the argument of `benchsuite repro`."""
    files = sorted(PAPERS.glob("*/*.toml"))
    papers = {f"repro-{file.parent.name}": file.parent.name for file in files}
    tables = {f"repro-{file.parent.name}-{file.stem}": f"{file.parent.name}/{file.stem}" for file in files}
    return {**SHORT, **papers, **tables}


@impl
def tox_extend_envs() -> tuple[str, ...]:
    """Their names."""
    return tuple(environments())


@impl
def tox_add_core_config(core_conf: ConfigSet, state: State) -> None:
    """What each of them does; [testenv] in tox.ini gives the rest."""
    options = state.conf.pos_args(None) or ()
    decided = bool(DECIDE & {option.partition("=")[0] for option in options})
    for name, what in environments().items():
        state.conf.memory_seed_loaders[name].append(
            MemoryLoader(
                description=f"Reproduce {what}; options of `benchsuite repro` may follow after --.",
                package="editable",
                extras=set(),
                commands=[Command(["benchsuite", "repro", what, *(() if decided else USUAL.get(name, ())), *options])],
            )
        )

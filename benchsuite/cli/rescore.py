"""`benchsuite rescore`: do a record's ranks give its metrics?"""

from typing import Annotated

import typer

from benchsuite.cli.options import RESULTS, Plugins, Results, load_plugins
from benchsuite.errors import RecordError
from benchsuite.records.names import find_run


def rescore(
    run: Annotated[str, typer.Argument(help="A run_id or its beginning, or a record's file.")],
    plugin: Plugins = None,
    results: Results = RESULTS,
) -> None:
    """Compute a run's metrics again from its stored ranks. Exit code 1 if they are not those of the record."""
    from benchsuite.experiments.rescore import rescore as again

    load_plugins(plugin)
    file = find_run(results, run)
    outcome = again(file)
    for protocol, count in outcome.agreed.items():
        print(f"{protocol}: {count} numbers agree")
    for protocol, not_recomputable in outcome.not_recomputable.items():
        print(f"{protocol}: not computed again: {', '.join(not_recomputable.numbers)} ({not_recomputable.why})")
    if outcome.differs:
        raise RecordError("\n  ".join([f"{file}: {len(outcome.differs)} differ", *outcome.differs]))
    print(f"{file}: agrees")

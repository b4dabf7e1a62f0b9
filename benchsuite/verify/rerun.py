"""Records that are drawn to be trained again, and the run of each."""

import os
from collections.abc import Mapping
from pathlib import Path
from random import Random

from benchsuite.errors import BenchsuiteError, UsageError
from benchsuite.execution.devices import Devices
from benchsuite.execution.events import unexpected
from benchsuite.execution.preflight import preflight
from benchsuite.planning.data_folders import resolve_data
from benchsuite.planning.plan import Run, make_run
from benchsuite.planning.resolve import resolve_protocol, with_models
from benchsuite.records.method_version import stale, version_state
from benchsuite.records.schema import PARAPHRASES, Record


def draw(
    records: Mapping[str, Record], count: int, random: Random, folders: Mapping[str, str], place: Path
) -> tuple[dict[str, Run], dict[str, str]]:
    """As many records as asked for, each as likely as any other, of those that can be done again here, by file name;
    and why others could not be drawn."""
    runs: dict[str, Run] = {}
    left_out: dict[str, str] = {}
    for name in random.sample(sorted(records), len(records)):
        if len(runs) == count:
            break
        try:
            run, devices = run_of(records[name], folders), devices_of(records[name])
            devices.processes(run.setup.training.processes)
            if problems := preflight([run], place, devices=devices).problems:
                raise UsageError("; ".join(str(problem) for problem in problems))
            runs[name] = run
        except BenchsuiteError as error:
            left_out[name] = str(error)
        except Exception as error:  # anyone may have written its setup
            left_out[name] = unexpected(error)
    return runs, left_out


def devices_of(record: Record) -> Devices:
    """As many of this machine as computed the record; refused if there are fewer."""
    threads, cores = record.environment.get("threads") or 1, os.cpu_count() or 1
    if threads > cores:
        raise UsageError(f"it computed with {threads} threads, and this machine has {cores} processors")
    return Devices.here(record.environment.get("processes"), jobs=1)


def run_of(record: Record, folders: Mapping[str, str]) -> Run:
    """The same run. Refused if its method, tasks or data here are not those of the record."""
    if version_state(record.method) == "unknown":
        raise UsageError(f"method {record.method.name} is not registered here")
    if why := stale(record):
        where = f" (commit {commit[:12]})" if (commit := record.environment.get("commit")) else ""
        raise UsageError(f"it was {why}{where}")
    towers = with_models(record.setup, folders)
    data = resolve_data(record.setup.data, folders)
    protocols = {name: resolve_protocol(protocol, folders) for name, protocol in record.setup.protocols.items()}
    setup = towers.model_copy(update={"data": data, "protocols": protocols})
    run = make_run(setup, record.method, record.seed, record.method.title, 0.0, record.recipe, record.tuned)
    if run.run_id != record.run_id:
        others = [
            *([f"the digest of dataset {setup.data.name}"] if data.digest != record.setup.data.digest else []),
            *(["the digest of the paraphrases"] if run.paraphrases != record.digests.get(PARAPHRASES) else []),
            *(f"protocol {name}" for name, now in protocols.items() if now != record.setup.protocols[name]),
        ]
        raise UsageError(f"it is another run here: {', '.join(others) or 'its setup'} differs")
    return run

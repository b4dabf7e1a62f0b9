"""A real SLURM of one node, this machine: munge, controller and node in a folder of their own, on ports of their own.

It needs Debian's packages munge, slurmctld, slurmd and slurm-client. Anyone may start it; jobs run as the same user.
"""

import ctypes
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

INSTALL = "apt-get install -y --no-install-recommends munge slurmctld slurmd slurm-client"
SBIN = "/usr/sbin"
CPUS = 2
START_SECONDS = 60
PR_SET_PDEATHSIG = 1
"""Of Linux."""
CONFIG = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
EnforcePartLimits=ALL
SlurmdParameters=config_overrides
KillWait=5
GresTypes=gpu
MailProg=/bin/true
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} Gres=gpu:2 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class CannotStartError(Exception):
    """Why SLURM cannot be started here."""


@dataclass
class Node:
    """A SLURM that runs."""

    folder: Path
    processes: list["subprocess.Popen[bytes]"]

    @property
    def config(self) -> Path:
        return self.folder / "slurm.conf"

    def ask(self, *command: str) -> str:
        """What a command of SLURM prints."""
        done = subprocess.run(command, env=self._env(), capture_output=True, text=True, check=True, timeout=60)
        return done.stdout

    def jobs(self) -> dict[str, str]:
        """The state of jobs that wait or run, by id."""
        return dict(line.split("|") for line in self.ask("squeue", "-h", "-r", "-o", "%i|%T").splitlines())

    def stop(self) -> None:
        """End all jobs and SLURM itself."""
        for command in (["scancel", "--signal=KILL", "--full"], ["scancel"]):
            subprocess.run([*command, "-u", getpass.getuser()], check=False, env=self._env(), capture_output=True)
        with suppress(subprocess.SubprocessError, OSError):
            until(lambda: not self.jobs(), 30, "jobs end", required=False)
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _env(self) -> dict[str, str]:
        return {**os.environ, "SLURM_CONF": str(self.config)}


def until(holds: Callable[[], bool], seconds: float, what: str, required: bool = True) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            if required:
                raise AssertionError(f"waited {seconds} s in vain until {what}")
            return
        time.sleep(0.1)


def start(folder: Path) -> Node:
    """Start SLURM in a folder of a short path without spaces, or say why that cannot be done."""
    path = f"{os.environ.get('PATH', '')}:{SBIN}"
    programs = {name: shutil.which(name, path=path) for name in ("munged", "slurmctld", "slurmd", "sbatch", "srun")}
    if missing := [name for name, program in programs.items() if program is None]:
        raise CannotStartError(f"{', '.join(missing)} not installed; as root: {INSTALL}")
    for name in ("munge", "state", "spool"):
        (folder / name).mkdir(parents=True)
        (folder / name).chmod(0o755)
    folder.chmod(0o755)
    key = folder / "munge" / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    host = socket.gethostname().partition(".")[0]
    values = {"host": host, "user": getpass.getuser(), "folder": folder, "ports": _free_ports(2), "cpus": CPUS}
    node = Node(folder, [])
    node.config.write_text(CONFIG.format(**values))
    gpus = "Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n"  # nobody computes on them
    (folder / "gres.conf").write_text(gpus)
    files = {f"--{option}": folder / "munge" / option.partition("-")[0] for option in ("key-file", "pid-file")}
    files |= {"--socket": folder / "munge" / "socket", "--log-file": folder / "munge" / "log"}
    files |= {"--seed-file": folder / "munge" / "seed"}
    commands = [
        [programs["munged"], "--foreground", "--force", *(f"{option}={file}" for option, file in files.items())],
        [programs["slurmctld"], "-D", "-f", node.config],
        [programs["slurmd"], "-D", "-f", node.config],
    ]
    try:
        for command in commands:
            with (folder / "started.log").open("ab") as log:
                words = [str(word) for word in command]
                process = subprocess.Popen(words, stdout=log, stderr=log, env=node._env(), preexec_fn=end_with_parent)
            node.processes.append(process)
            if command is commands[0]:
                until((folder / "munge" / "socket").exists, START_SECONDS, "munged answers")
        until(lambda: _idle(node), START_SECONDS, "the node is idle")
        node.ask("srun", "-n", str(CPUS), "true")
    except (AssertionError, OSError, subprocess.SubprocessError) as error:
        tail = "; ".join((folder / "started.log").read_text(errors="replace").splitlines()[-3:])
        node.stop()
        raise CannotStartError(f"{error} ({tail})") from error
    return node


def end_with_parent() -> None:
    """In a new process: Ctrl-C is for the tests alone, and the end of the tests, however it comes, ends the process."""
    os.setsid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _idle(node: Node) -> bool:
    for process in node.processes:
        if process.poll() is not None:
            raise AssertionError(f"{process.args[0]} ended with {process.returncode}")  # type: ignore[index]
    try:
        return "idle" in node.ask("sinfo", "-h", "-o", "%T")
    except subprocess.SubprocessError:
        return False


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for free in sockets:
            free.bind(("127.0.0.1", 0))
        return [int(free.getsockname()[1]) for free in sockets]
    finally:
        for free in sockets:
            free.close()

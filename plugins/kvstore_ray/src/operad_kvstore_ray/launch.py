"""`operad launch`: the workers of a distributed program on this machine, with Ray between them."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any, Final, final

import click

from operad_kvstore_ray import reminders
from operad_kvstore_ray.session import QUIETLY, check_password, imported_ray, start_cluster
from operad_kvstore_ray.watching import Watch, WorkerStatus, report_of, watching

_POLL_S: Final = 0.05
_LAST_WORDS_S: Final = 2.0
_TELL_S: Final = 5.0
_OF_SIGNAL: Final = 128
_ON_LOSS, _RAISE = "OPERAD_KV_ON_LOSS", "raise"
_ENDING: Final = (signal.SIGTERM, signal.SIGHUP)


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("-n", "--workers", type=click.IntRange(1), required=True, help="How many workers.")
@click.option(
    "-s", "--servers", type=click.IntRange(1), default=1, show_default=True, help="How many servers."
)
@click.option("--env", multiple=True, metavar="NAME=VALUE", help="A variable for the workers; repeatable.")
@click.option(
    "--object-store-mb", type=click.IntRange(100), default=512, show_default=True,
    help="Memory for arrays under way; twice what a step pushes, for each worker, is plenty.",
)  # fmt: skip
@click.option(
    "--grace", type=click.FloatRange(0), default=30.0, show_default=True, metavar="SECONDS",
    help="How long the others may run after a worker has failed.",
)  # fmt: skip
@click.option(
    "--restart", "restarts", type=click.IntRange(0), default=0, show_default=True, metavar="TIMES",
    help="How often the job is started again after a worker has failed.",
)  # fmt: skip
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def launch(
    workers: int,
    servers: int,
    env: Sequence[str],
    object_store_mb: int,
    grace: float,
    restarts: int,
    script: str,
    arguments: Sequence[str],
) -> None:
    """Run SCRIPT in several processes that share distributed stores.

    Every line of a worker's output comes with its rank in front. On a terminal a row per worker stands
    below: its state, and epoch, batch and speed of its newest line that tells them. Where RAY_ADDRESS is
    set that cluster is used; else Ray is started, on the loopback device, until the last worker has ended.
    The exit code is that of the first worker that failed for good (128 and its number for a signal), and 0
    if none did. Ctrl-C and signals that end this process end the workers too, within seconds.

    With --restart the whole job starts again, with new servers: `fit(checkpoint=..., resume=True)` then goes
    on from the newest checkpoint that all workers have. Where OPERAD_KV_ON_LOSS is `wait` or `shrink`, the
    failed worker alone is started again, as often, and `store.resume()` says which step is next.
    """
    _listen()
    own = dict(_variable(text) for text in env)
    is_whole = own.get(_ON_LOSS, os.environ.get(_ON_LOSS, _RAISE)) == _RAISE
    os.environ.setdefault("OPERAD_NUM_THREADS", "1")  # for the servers, which inherit it
    cluster = Cluster(object_store_mb << 20, servers, click.echo)
    _listen()  # again, since Ray has set a handler of its own
    counts = {"OPERAD_KV_NUM_WORKERS": str(workers), "OPERAD_KV_NUM_SERVERS": str(servers)}
    shared = {**os.environ, **own, **cluster.variables, **counts, "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, script, *arguments]
    lives = restarts + 1 if is_whole else 1
    try:
        for life in range(1, lives + 1):
            click.echo(f"operad launch: starting {workers} workers; servers: {servers}")
            is_last = life == lives
            with cluster.job() as (variables, tell), watching(workers) as (echo, watch):
                group = Workers(command, {**shared, **variables}, workers, echo, 0 if is_whole else restarts)
                try:
                    code = group.run(grace if is_last else 0.0, tell if is_last else None, watch)
                finally:
                    group.end()
            if not code or is_last:
                break
            click.echo(f"operad launch: starting the job again, {life} of {restarts}")
    except KeyboardInterrupt:
        code = _OF_SIGNAL + signal.SIGINT
    finally:
        cluster.close()
    raise SystemExit(code)


@final
class Cluster:
    """Ray as a launcher uses it: a cluster of its own, or the one that `RAY_ADDRESS` names.

    Args:
        object_store_bytes: Of one of its own; see `start_cluster`.
        num_servers: Likewise.
        echo: Prints a line.

    Attributes:
        variables: Those by which workers find it, beside those of this process.
    """

    def __init__(self, object_store_bytes: int, num_servers: int, echo: Callable[[str], None]) -> None:
        address = os.environ.get("RAY_ADDRESS")
        if address is None:
            with reminders.reminding(echo, "starting Ray on this machine"):
                address = start_cluster(object_store_bytes, num_servers, echo)
        else:
            with reminders.reminding(echo, f"connecting to Ray at {address}"):
                check_password(address)
        self._address, self._ray = address, imported_ray()
        self.variables = {"RAY_ADDRESS": address, "OPERAD_KV_ENGINE": "ray"}

    @contextmanager
    def job(self) -> Iterator[tuple[dict[str, str], Callable[[int, str], None]]]:
        """Job with servers of its own, which are ended after the job.

        Yields:
            The variables of its workers, and what tells its servers that a rank was lost, and why.
        """
        name = f"job-{secrets.token_hex(4)}"
        snapshots = os.environ.get("OPERAD_KV_SNAPSHOTS") or tempfile.mkdtemp(prefix=f"operad-kv-{name}-")
        try:
            yield (
                {"OPERAD_KV_JOB": name, "OPERAD_KV_SNAPSHOTS": snapshots},
                lambda rank, why: self._tell(name, rank, why),
            )
        finally:
            for server in self._servers(name):
                self._ray.kill(server)
            if "OPERAD_KV_SNAPSHOTS" not in os.environ:
                shutil.rmtree(snapshots, ignore_errors=True)

    def close(self) -> None:
        """End Ray, if it was started here."""
        self._ray.shutdown()

    def _tell(self, job: str, rank: int, why: str) -> None:
        told = [server.lose.remote(rank, why) for server in self._servers(job)]
        if told:  # before another process has the rank
            self._ray.wait(told, num_returns=len(told), timeout=_TELL_S)

    def _servers(self, job: str) -> list[Any]:
        ray = self._ray
        if not ray.is_initialized():
            ray.init(address=self._address, namespace=job, **QUIETLY)
        named = ray.util.list_named_actors(all_namespaces=True)
        return [ray.get_actor(one["name"], namespace=job) for one in named if one["namespace"] == job]


@final
class Workers:
    """Processes of one program, numbered by `OPERAD_KV_RANK`.

    Args:
        command: What each runs.
        env: All variables of each.
        count: How many.
        echo: Prints a line.
        restarts: How often each is started again that fails.
    """

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        count: int,
        echo: Callable[[str], None],
        restarts: int = 0,
    ) -> None:
        self._command, self._env, self._count, self._echo = command, env, count, echo
        self._restarts, self._left = restarts, [restarts] * count
        self._readers: list[threading.Thread] = []
        self._processes: list[subprocess.Popen[str]] = []
        self._silent = set(range(count))
        self._states, self._reports = ["starting"] * count, [""] * count

    def run(
        self,
        grace_s: float,
        on_loss: Callable[[int, str], None] | None = None,
        watch: Watch | None = None,
    ) -> int:
        """Start the processes, and wait until all have ended.

        Args:
            grace_s: After such a failure the others are ended after so many seconds.
            on_loss: Is told the rank that failed, and why, before it is started again; a line has said so.
            watch: Is told the state of all, again and again until they have ended.
        Returns:
            The exit code of the first that failed and was not started again.
        """
        for rank in range(self._count):
            self._processes.append(self._started(rank))
        running = set(range(self._count))
        code, end, is_ending = 0, float("inf"), False
        begun, remind_s = time.monotonic(), reminders.REMIND_S
        while running:
            if watch is not None:
                watch(self._statuses(running))
            if (silent := sorted(self._silent & running)) and time.monotonic() > begun + remind_s:
                names = ", ".join(map(str, silent))
                self._echo(f"operad launch: waiting for a first line of rank {names}, {remind_s:.0f} s")
                remind_s *= 2  # a program may have nothing to say
            for rank in sorted(running):
                ended = self._processes[rank].poll()
                if ended is None:
                    continue
                is_restarted = bool(ended and self._left[rank] and not code)
                self._states[rank] = _why(ended) if ended else "ended"
                if not is_restarted:
                    running.discard(rank)
                if ended and not is_ending:
                    self._echo(f"operad launch: rank {rank} {_why(ended)}{self._again(rank, is_restarted)}")
                    if running and on_loss is not None:
                        on_loss(rank, _why(ended))
                if is_restarted:
                    self._left[rank] -= 1
                    self._processes[rank] = self._started(rank)
                    self._states[rank] = (
                        f"running again, {self._restarts - self._left[rank]} of {self._restarts}"
                    )
                elif ended and not code:
                    code, end = _exit_code(ended), time.monotonic() + grace_s
            if time.monotonic() > end and not is_ending:
                is_ending = True
                self._echo(f"operad launch: ending rank {', '.join(map(str, sorted(running)))}")
                self.end()
            time.sleep(_POLL_S)
        return code

    def end(self) -> None:
        """End the processes that still run: first politely, after two seconds for certain."""
        end = time.monotonic() + _LAST_WORDS_S
        for process in self._processes:
            if process.poll() is None:
                process.terminate()
        for process in self._processes:
            try:
                process.wait(max(end - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for reader in self._readers:
            reader.join(_LAST_WORDS_S)

    def _started(self, rank: int) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            self._command, env={**self._env, "OPERAD_KV_RANK": str(rank)}, text=True, errors="replace",
            bufsize=1, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        reader = threading.Thread(target=self._show, args=(rank, process.stdout), daemon=True)
        reader.start()
        self._readers.append(reader)
        self._states[rank], self._reports[rank] = "running", ""
        return process

    def _statuses(self, running: set[int]) -> list[WorkerStatus]:
        both = enumerate(zip(self._states, self._reports, strict=True))
        return [WorkerStatus(state, report, rank in running) for rank, (state, report) in both]

    def _again(self, rank: int, is_restarted: bool) -> str:
        number = self._restarts - self._left[rank] + 1
        return f"; starting it again, {number} of {self._restarts}" if is_restarted else ""

    def _show(self, rank: int, lines: IO[str]) -> None:
        with lines:
            for line in lines:
                self._silent.discard(rank)
                self._reports[rank] = report_of(line) or self._reports[rank]
                self._echo(f"[{rank}] {line.rstrip()}")


def _listen() -> None:
    for number in _ENDING:
        signal.signal(number, _end)


def _end(number: int, _: object) -> None:
    """Unwind this process on a signal that ends it, so that the workers are ended first."""
    raise SystemExit(_OF_SIGNAL + number)


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise click.BadParameter(f"got {text!r}, expected NAME=VALUE", param_hint="--env")
    return name, value


def _why(ended: int) -> str:
    return f"was killed by signal {-ended}" if ended < 0 else f"exited with {ended}"


def _exit_code(ended: int) -> int:
    return _OF_SIGNAL - ended if ended < 0 else ended

"""`operad launch`: the workers of a distributed program on this machine, with Ray between them."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, final

import click

from operad.system import ENDING_SIGNALS
from operad_kvstore_ray import reminders
from operad_kvstore_ray.session import QUIETLY, check_password, imported_ray, snapshot_folder, start_cluster
from operad_kvstore_ray.watching import watching
from operad_kvstore_ray.workers import OF_SIGNAL, Workers

_TELL_S: Final = 5.0
_ON_LOSS, _RAISE = "OPERAD_KV_ON_LOSS", "raise"


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("-n", "--workers", type=click.IntRange(1), required=True, help="How many workers.")
@click.option(
    "-s", "--servers", type=click.IntRange(1), default=1, show_default=True, help="How many servers."
)
@click.option("--env", multiple=True, metavar="NAME=VALUE", help="A variable for the workers; repeatable.")
@click.option(
    "--object-store-mb", type=click.IntRange(100), default=512, show_default=True,
    help="Size of Ray's object store; twice the bytes of a step's pushes, per worker, is enough.",
)  # fmt: skip
@click.option(
    "--grace", type=click.FloatRange(0), default=30.0, show_default=True, metavar="SECONDS",
    help="How long the other workers may go on after one has failed.",
)  # fmt: skip
@click.option(
    "--restart", "restarts", type=click.IntRange(0), default=0, show_default=True, metavar="TIMES",
    help="How many times to restart the job after a worker has failed.",
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
        code = OF_SIGNAL + signal.SIGINT
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
        snapshots = os.environ.get("OPERAD_KV_SNAPSHOTS") or snapshot_folder(name)
        try:
            yield (
                {"OPERAD_KV_JOB": name, "OPERAD_KV_SNAPSHOTS": snapshots},
                lambda rank, why: self._tell(name, rank, why),
            )
        finally:
            for server in self._servers(name):
                self._ray.kill(server)
            if "OPERAD_KV_SNAPSHOTS" not in os.environ:
                with suppress(OSError):  # `ignore_errors` does not cover every call of the removal
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


def _listen() -> None:
    for number in ENDING_SIGNALS:
        signal.signal(number, _end)


def _end(number: int, _: object) -> None:
    """Unwind this process on a signal that ends it, so that the workers are ended first."""
    raise SystemExit(OF_SIGNAL + number)


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise click.BadParameter(f"got {text!r}, expected NAME=VALUE", param_hint="--env")
    return name, value

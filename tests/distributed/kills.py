"""Kill workers and servers of many jobs, and compare what each trains with an undisturbed run, bit by bit.

    python -m tests.distributed.kills moments --count 20
    python -m tests.distributed.kills messages
    python -m tests.distributed.kills messages --engine mpi

`moments` kills a worker or the server at random moments of a job's life, `messages` at each message of both
workers, or at every n-th with `--step n`. Each line says what was killed, and whether the bits are the same;
counts come last.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.distributed.conftest import (
    Ended,
    _ended,
    _environment,
    ray_command,
    restarted_mpi_command,
    running_cluster,
)

Run = Callable[[Path, Sequence[str]], Ended]


def main() -> int:
    """How many jobs went wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("when", choices=["moments", "messages"])
    parser.add_argument("--engine", choices=["ray", "mpi"], default="ray")
    parser.add_argument("--count", type=int, default=20, help="random moments")
    parser.add_argument("--seed", type=int, default=0, help="of random moments")
    parser.add_argument("--first", type=int, default=1, help="the first message")
    parser.add_argument("--step", type=int, default=1, help="from one message to the next")
    parser.add_argument("--only", nargs="*", default=[], help="these words, as printed, and no others")
    parser.add_argument("--together", type=int, default=1, help="so many processes are killed in each job")
    given = parser.parse_args()
    with running_engine(given.engine) as run, tempfile.TemporaryDirectory() as folder:
        run(Path(folder) / "first", [])  # takes longer, as the cluster has no processes ready
        undisturbed = run(Path(folder) / "undisturbed", [])
        words = given.only or [*(moments if given.when == "moments" else messages)(undisturbed, given)]
        num_jobs = -(-len(words) // given.together)
        jobs = [words[number::num_jobs] for number in range(num_jobs)]
        counts: Counter[tuple[str, str]] = Counter()
        for number, own in enumerate(jobs):
            ended = run(Path(folder) / str(number), own)
            if len(own) > 1:  # a job that was started again may have too little left for the others
                alone = [word for word in own if f"killing {word}" not in ended.output]
                jobs += [[word] for word in alone]
                own = [word for word in own if word not in alone]
            counts += judged(own, ended, undisturbed)
    for (whom, verdict), count in sorted(counts.items()):
        print(f"{whom}, {verdict}: {count}")
    return sum(count for (_, verdict), count in counts.items() if verdict == "FAILED")


@contextmanager
def running_engine(engine: str) -> Iterator[Run]:
    """What runs a job with a folder and words."""
    if engine == "mpi":
        yield lambda folder, words: _ended(
            restarted_mpi_command(2, "training", str(folder), *words, restarts=len(words)), _environment({})
        )
        return
    with running_cluster() as cluster:
        yield lambda folder, words: _ended(
            ray_command(2, "training", str(folder), *words, options=("--restart", str(len(words)))),
            _environment(cluster),
        )


def moments(undisturbed: Ended, given: argparse.Namespace) -> Iterator[str]:
    """Whom to kill, and when, at random moments."""
    (life_s, *_) = sorted(float(found) for found in re.findall(r"messages in ([\d.]+) s", undisturbed.output))
    rng = random.Random(given.seed)
    whom = ["0", "1", "server"] if given.engine == "ray" else ["0", "1"]
    for number in range(given.count):
        yield f"{whom[number % len(whom)]}~{rng.uniform(0, life_s):.2f}"


def messages(undisturbed: Ended, given: argparse.Namespace) -> Iterator[str]:
    """Whom to kill, and when, at messages."""
    for rank in (0, 1):
        (most,) = re.findall(rf"rank {rank} sent (\d+) messages", undisturbed.output)
        yield from (f"{rank}@{number}" for number in range(given.first, int(most) + 1, given.step))
    if given.engine == "ray":
        yield from (f"server@{number}" for number in range(given.first, int(most) + 1, given.step))


def judged(words: Sequence[str], ended: Ended, undisturbed: Ended) -> Counter[tuple[str, str]]:
    """How many of each kind ended how."""
    expected, got = (sorted(re.findall(r"rank \d trained \w+", one.output)) for one in (undisturbed, ended))
    is_same = ended.code == 0 and expected == got
    found: Counter[tuple[str, str]] = Counter()
    for word in words:
        is_killed = f"killing {word}" in ended.output
        verdict = ("same bits" if is_same else "FAILED") if is_killed else "not reached"
        found["server" if word.startswith("server") else "worker", verdict] += 1
        print(word, verdict, flush=True)
    if not is_same:
        print(ended.output, flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())

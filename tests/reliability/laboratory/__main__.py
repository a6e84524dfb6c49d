"""`python -m tests.reliability.laboratory`: the experiments, and tables of what they found."""

from __future__ import annotations

import argparse

from tests.reliability.laboratory import delivery
from tests.reliability.laboratory.commits import check_operad
from tests.reliability.laboratory.programs import PROGRAMS
from tests.reliability.laboratory.report import explored, faults, replay, slow_pairs, table


def _schedules(given: argparse.Namespace) -> None:
    if given.replay is not None:
        for name in given.programs:
            print(replay(name, given.replay))
        return
    all_found = []
    for name in given.programs or PROGRAMS:
        most = slow_pairs(name) if given.pairs is None else given.pairs
        all_found.append(explored(name, most))
    print(table(all_found))
    for text in filter(None, map(faults, all_found)):
        print(f"\n{text}")


def _commits(_: argparse.Namespace) -> None:
    count, wrong = check_operad()
    print("\n".join([f"{count} stretches, {len(wrong)} faults", *wrong]))


def _delivery(_: argparse.Namespace) -> None:
    print(delivery.report())


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.laboratory", description=__doc__)
    commands = parser.add_subparsers(required=True)
    schedules = commands.add_parser("schedules", help="explore schedules of threads, or replay one")
    schedules.add_argument("programs", nargs="*", help="default: all")
    pairs = "how many with two preemptions; default: as `make test-slow`"
    schedules.add_argument("--pairs", type=int, help=pairs)
    schedules.add_argument("--replay", metavar="SCHEDULE", help="run this one alone, such as 12>2,40>1")
    schedules.set_defaults(run=_schedules)
    commits = commands.add_parser("commits", help="prove the rule of commits on byte code")
    commits.set_defaults(run=_commits)
    signals = commands.add_parser("delivery", help="measure where this interpreter looks at signals")
    signals.set_defaults(run=_delivery)
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()

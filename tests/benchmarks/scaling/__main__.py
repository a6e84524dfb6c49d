"""Predict throughput of distributed training: `python -m tests.benchmarks.scaling`.

A simulation of data-parallel steps on 1 to 1,024 workers: sums over a ring, over the tree that
`operad-kvstore-mpi` uses, and through the servers of `operad-kvstore-ray`, synchronous and asynchronous.
Processor costs were fitted to runs on one machine (`measured.json`); `--validate` shows how well they
predict what they were not fitted to. Links, latency, stragglers and failures are what the options say: no
network was measured. docs/scaling.md says what is simulated and what is not.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.scaling.calibration import check, mpi_costs, ray_costs
from tests.benchmarks.scaling.costs import MEASURED, Measured, read
from tests.benchmarks.scaling.scenario import FLOAT_BYTES, Chance, Cluster, Job, of_resnet_50
from tests.benchmarks.scaling.simulate import ENGINES, Prediction, Scenario, predict

BITS: Final = 8
HOUR_S: Final = 3600


def main() -> int:
    """Print a table, or JSON."""
    options = _parser().parse_args()
    measured = read(options.measured)
    if options.validate:
        print(validation(measured))
        return 0
    scenarios = {engine: scenario_of(options, engine, measured) for engine in options.engines}
    found = {
        engine: [predict(scenario, workers) for workers in _powers(options.most)]
        for engine, scenario in scenarios.items()
    }
    if options.json:
        print(json.dumps({engine: [asdict(one) for one in of] for engine, of in found.items()}, indent=1))
    else:
        print(table(found))
    return 0


def scenario_of(options: argparse.Namespace, engine: str, measured: Measured) -> Scenario:
    """Scenario that the options describe, with the measured costs."""
    settings = {"compute_s": options.compute_ms / 1000, "batch": options.batch}
    if options.model_mb:
        equal = int(options.model_mb * 1e6 / FLOAT_BYTES / options.keys)
        job = Job((equal,) * options.keys, **settings)
    else:
        job = of_resnet_50(**settings)
    return Scenario(
        engine,
        job,
        Cluster(
            options.servers, options.gbit * 1e9 / BITS, latency_s=options.latency_us / 1e6,
            snapshot_every=options.snapshot_every,
        ),
        Chance(
            spread=options.spread, slow_share=options.slow_share, slow_factor=options.slow_factor,
            mtbf_s=options.mtbf_h * HOUR_S, restart_s=options.restart_s, checkpoint_s=options.checkpoint_s,
            server_recovery_s=options.server_recovery_s,
        ),
        mpi_costs(measured, "mpi, TCP"),
        ray_costs(measured),
        options.seed,
    )  # fmt: skip


def table(found: dict[str, list[Prediction]]) -> str:
    """A line for each number of workers, three columns for each engine."""
    head = f"{'workers':>7}" + "".join(f"  {engine:>12} {'eff.':>5} {'bottleneck':<24}" for engine in found)
    lines = [
        f"{row[0].workers:>7}" + "".join(map(_columns, row)) for row in zip(*found.values(), strict=True)
    ]
    return "\n".join([head, *lines])


def validation(measured: Measured) -> str:
    """Table of measured and predicted times, in milliseconds."""
    about = measured.about
    low, high = about["load"]
    lines = [
        f"{about['machine']}, {about['date']}, load {low} to {high}; processor time in ms, least of rounds",
        f"{'column':<24}{'workers':>8}  {'case':<26}{'of':<8}{'measured':>10}{'predicted':>10}{'ratio':>7}",
    ]
    for point, is_fitted, predicted_s in sorted(check(measured), key=lambda one: not one.is_fitted):
        what = f"{point.column:<24}{point.workers:>8}  {point.case:<26}{point.who:<8}"
        figures = (
            f"{1000 * point.least_s:>10.2f}{1000 * predicted_s:>10.2f}{predicted_s / point.least_s:>7.2f}"
        )
        lines.append(f"{what}{figures}{'  fitted' if is_fitted else ''}")
    return "\n".join(lines)


def _columns(one: Prediction) -> str:
    bottleneck = f"{one.bottleneck} ({one.gain:.0%})"
    return f"  {one.samples_per_s:>12,.0f} {one.efficiency:>5.0%} {bottleneck:<24}"


def _powers(most: int) -> Sequence[int]:
    return [1 << i for i in range(most.bit_length())]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.scaling",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )

    def option(name: str, default: Any, what: str) -> None:
        parser.add_argument(name, type=type(default), default=default, help=f"{what} (default %(default)s)")

    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES), help="which ones")
    option("--most", 1024, "workers, up to so many, in powers of two")
    option("--gbit", 10.0, "speed of every link, in Gbit/s each way")
    option("--latency-us", 30.0, "of a message, in microseconds")
    option("--servers", 1, "servers that share the keys")
    option("--snapshot-every", Cluster().snapshot_every, "rounds between two snapshots of a server")
    option("--model-mb", 0.0, "size of the model in MB; 0: ResNet-50, 25.6 million parameters")
    option("--keys", 100, "equal arrays that a model of --model-mb has")
    option("--compute-ms", 250.0, "a worker's compute time per step")
    option("--batch", 64, "samples of a worker per step")
    option("--spread", 0.05, "standard deviation of the logarithm of a worker's compute time")
    option("--slow-share", 0.0, "probability that a worker is slow in a step")
    option("--slow-factor", 2.0, "how much longer it computes then")
    option("--mtbf-h", 5000.0, "mean time between failures of one machine, in hours")
    option("--restart-s", 60.0, "until a job trains again that a worker's end has stopped")
    option("--checkpoint-s", 600.0, "between two checkpoints")
    option("--server-recovery-s", 5.0, "until a server is back")
    option("--seed", 0, "of compute times")
    parser.add_argument("--measured", type=Path, default=MEASURED, help="runs that costs are fitted to")
    parser.add_argument("--validate", action="store_true", help="show predictions beside measured runs")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())

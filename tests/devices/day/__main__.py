"""A day on a device, in at most eight minutes of it: `python -m tests.devices.day`.

Results are written as they come, to `FOLDER/STAGE-PART.jsonl` and `FOLDER/results.md`. A run that is
repeated with the same folder runs what is still missing.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from core.tests.devices.present import why_no_gpu
from tests.devices.day.running import ROOT, run_day
from tests.devices.day.stages import STAGES

_SECONDS = sum(stage.seconds for stage in STAGES)
_STAND_IN = "none: the tests' stand-in for CuPy, on a processor. Nothing here says anything of a GPU"


def _device() -> str:
    """What the machine's device is called, by a process that is gone before the stages begin."""
    program = (
        "import cupy, numpy; r = cupy.cuda.runtime; name = r.getDeviceProperties(0)['name'].decode(); "
        "print(f'{r.getDeviceCount()} x {name}, CUDA {r.runtimeGetVersion()}, '"
        "f'driver {r.driverGetVersion()}, '"
        "f'CuPy {cupy.__version__}, NumPy {numpy.__version__}')"
    )
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def main() -> int:
    """Run what the command line says; 0 if everything passed, 1 if not, 2 if there is no device."""
    parser = argparse.ArgumentParser(prog="python -m tests.devices.day", description=__doc__)
    parser.add_argument("--results", type=Path, default=ROOT / "build/gpu", metavar="FOLDER")
    parser.add_argument(
        "--seconds", type=float, default=_SECONDS, help=f"for all stages (default: {_SECONDS:.0f})"
    )
    parser.add_argument("--stages", nargs="+", choices=[stage.name for stage in STAGES], default=[])
    parser.add_argument("--case", default="", metavar="WORD", help="only cases with this in their name")
    parser.add_argument("--stand-in", action="store_true", help="run on the stand-in for CuPy, without a GPU")
    options = parser.parse_args()
    reason = None if options.stand_in else why_no_gpu()
    if reason is not None:
        print(f'{reason}; on a stand-in for CuPy: make test-gpu GPU_ARGS="--stand-in"', file=sys.stderr)
        return 2
    chosen = [stage for stage in STAGES if stage.name in options.stages or not options.stages]
    kind, device = ("stand-in", _STAND_IN) if options.stand_in else ("device", _device().strip())
    outcomes = run_day(options.results, chosen, kind, device, options.seconds, word=options.case)
    print((options.results / "results.md").read_text(encoding="utf-8"))
    return 0 if all(outcome.is_passed for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())

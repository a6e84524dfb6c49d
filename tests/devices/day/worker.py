"""The process that runs cases of one stage on the device.

`python -m tests.devices.day.worker FILE STAGE MODULE PART PARTS stand-in|device WORD`: every case with WORD
in its name whose number is PART modulo PARTS, and of which FILE has nothing yet.
"""

from __future__ import annotations

import sys
import time
import traceback
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

from tests.devices.day.records import BEGUN, PASSED, Record, read, write
from tests.devices.day.stages import Stage
from tests.devices.device import late_stand_in

LOST: Final = 3
"""Exit status where a failed case has left a device on which nothing runs any more."""


def is_lost() -> bool:
    """Return whether the device refuses everything since a kernel's error, as CUDA does within a process."""
    import cupy

    try:
        cupy.cuda.get_current_stream().synchronize()
    except cupy.cuda.runtime.CUDARuntimeError:
        return True
    return False


def run(file: Path, name: str, stage: Any) -> bool:
    """Run a case and write down what came of it; False if the device is lost."""
    write(file, Record(name, BEGUN))
    start = time.perf_counter()
    try:
        figures = stage.run(name) or {}
    except Exception as error:  # noqa: BLE001 - each is a result
        text = "".join(traceback.format_exception(error))
        write(file, Record(name, "failed", time.perf_counter() - start, text))
        return not is_lost()
    write(file, Record(name, PASSED, time.perf_counter() - start, figures=figures))
    return True


def main(file: Path, stage: Stage, part: int, parts: int, is_stand_in: bool, word: str) -> int:
    """Run the part's cases."""
    warnings.simplefilter("ignore")  # a device does not warn of an overflow, and the host should not either
    with late_stand_in(replaces=True) if is_stand_in else nullcontext():
        module = stage.load()
        names = [name for name in module.names() if word in name]
        for name in names[part::parts]:
            if name not in read(file) and not run(file, name, module):
                return LOST
    return 0


if __name__ == "__main__":
    path, title, place, number, count, kind, chosen = sys.argv[1:]
    chosen_stage = Stage(title, "", 0.0, module=place)
    sys.exit(main(Path(path), chosen_stage, int(number), int(count), kind == "stand-in", chosen))

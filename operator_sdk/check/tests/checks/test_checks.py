from __future__ import annotations

from pathlib import Path

from operad_check import checks


def test_importing_the_room_registers_every_module_in_it():
    modules = {path.stem for path in Path(checks.__file__).parent.glob("[!_]*.py")}
    assert modules <= vars(checks).keys()

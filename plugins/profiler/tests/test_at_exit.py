"""What a process that ends does with a recording that was not dumped."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

NAMED = "od.profiler.set_config(filename='own.json')"
RUN = "od.profiler.set_state('run'); (od.nd.ones(3) * 2).asnumpy(); od.profiler.set_state('stop')"


@pytest.mark.parametrize(
    ("lines", "written"),
    [
        ([NAMED, RUN], ["own.json"]),
        (["od.profiler.profiler_set_config(filename='own.json')", RUN], ["own.json"]),
        ([NAMED], []),
        ([RUN], []),
        ([NAMED, RUN, "od.profiler.dump()", "os.remove('own.json')"], []),
        ([NAMED, RUN, "od.profiler.dump(finished=False)", "os.remove('own.json')"], ["own.json"]),
    ],
    ids=["named", "named_as_before_1.2", "nothing_recorded", "not_named", "dumped", "dumped_so_far"],
)
def test_it_is_written_to_the_file_that_was_named(
    lines: list[str], written: list[str], tmp_path: Path
) -> None:
    program = "\n".join(["import os", "import operad as od", *lines])
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    assert [path.name for path in tmp_path.iterdir()] == written
    for path in tmp_path.iterdir():
        assert any(event["ph"] == "X" for event in json.loads(path.read_text())["traceEvents"])

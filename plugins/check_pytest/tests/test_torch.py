"""A table of functions of PyTorch; skipped where PyTorch is not installed."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="PyTorch is an extra of operad-check-torch")
pytest.importorskip("operad_check_torch")

pytest_plugins = ["pytester"]

TABLE = """
library = "torch"

[functions.median]
function = "torch.median(x, -1).values"
line = "x:(N, D) -> y:(N); D >= 1"
checks = ["F209", "M409"]

[functions.matrix_exp]
function = "torch:matrix_exp"
line = "x:(N, K, K) -> y:(N, K, K); K >= 1"
checks = ["D602", "L908"]
known = { D602 = "in float16 it is infinite", L908 = "in bfloat16 it is infinite" }
"""


def test_a_table_of_pytorch_is_tested_row_by_row(pytester):
    pytester.path.joinpath("operad-check.toml").write_text(TABLE)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-rx", "-W", "default")
    result.assert_outcomes(passed=1, failed=1, xfailed=2)
    result.stdout.fnmatch_lines(
        ["*median::M409*", "*import torch", "*XFAIL *matrix_exp::L908 - in bfloat16*"]
    )

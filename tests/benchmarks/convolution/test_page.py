from __future__ import annotations

import re

import pytest

from operad_sdk.vector import reason_against
from tests.benchmarks.convolution import peak
from tests.benchmarks.convolution.layers import LAYERS, rows
from tests.benchmarks.convolution.page import LayerRun, page
from tests.benchmarks.driver import Measured
from tests.benchmarks.load import Load
from tests.benchmarks.page import About, Run

FIRST = [
    {"first": 6.0, "then": 0.5, "compiled": 63, "loaded": 0, "files": 63, "bytes": 3e5},
    {"first": 3.0, "then": 0.4, "compiled": 0, "loaded": 63, "files": 63, "bytes": 3e5},
]
LAYER = LAYERS[1]


def _page(seconds: dict[str, float], errors: dict[str, float]) -> str:
    time, error = (row for row in rows() if row.name.startswith(f"{LAYER}, data"))
    rounds = {(library, ""): ([value] * 3, [value] * 3) for library, value in seconds.items()}
    measured = [Measured(time, rounds), Measured(error, values=errors)]
    about = About("1 May 2026", {"operad": "0.2", "torch": "2.13"}, {}, "make it", 3)
    run = Run(1, 1.0, Load(0.0, 0.0, 0.0), measured)
    return page(about, [LayerRun(run, 100.0)], FIRST)


def test_a_pass_has_times_ratios_rate_and_share() -> None:
    seconds = LAYER.operations / 50e9
    text = _page({"operad": seconds, "torch": 2 * seconds}, {})

    assert re.search(rf"\| {LAYER} \| data \| 3.02 \| 6.04 \| 0.50 \| 50 \| 0.50 \|", text)
    assert "operad is ahead of the best of them in 1 of 1 passes." in text
    assert "Behind" not in text


def test_passes_that_are_behind_are_named_with_their_ratio() -> None:
    text = _page({"operad": 0.003, "torch": 0.002}, {})

    assert "ahead of the best of them in 0 of 1 passes" in text
    assert f"Behind: {LAYER}, data (1.50)." in text


def test_errors_stand_side_by_side() -> None:
    text = _page({"operad": 0.003, "torch": 0.002}, {"operad": 2.25, "torch": 31.0})

    assert f"| {LAYER} |  |  | 2.2 | 31.0 |  |  |" in text


def test_first_calls_stand_below_each_other() -> None:
    text = _page({"operad": 0.003}, {})

    assert "| empty | 6.00 s | 0.50 s | 63 | 0 | 63 | 0.3 |" in text
    assert "| as that left it | 3.00 s | 0.40 s | 0 | 63 | 63 | 0.3 |" in text


@pytest.mark.skipif(reason_against() is not None, reason=f"no vector code: {reason_against()}")
def test_the_peak_is_measured_with_sums_that_are_right() -> None:
    assert peak.gflops(1, times=1000, rounds=1) > 0


def test_sums_that_are_not_exact_are_refused() -> None:
    with pytest.raises(ValueError, match="exact"):
        peak.gflops(1, times=1 << 22)

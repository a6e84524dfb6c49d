"""Constants of estimates, and the file that `operad tune` writes them to."""

from __future__ import annotations

import importlib
import json

import pytest

from operad import config
from operad.files import cache
from operad.op import (
    DEFAULTS,
    Correction,
    Cost,
    forget_rates,
    rates,
    tuned_path,
)

rates_module = importlib.import_module("operad.op.rates")  # the package has a function of that name

GOOD = [1e-3, 1e-5, 2e-5, 6e-5, {"exp": 3.0}, {"tanh.forward": [2.0, 0.5]}]


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("OPERAD_CACHE_DIR", str(tmp_path))
    config.reload()
    cache._warned.clear()
    forget_rates()
    yield tuned_path()
    monkeypatch.undo()
    config.reload()
    forget_rates()


def write(path):
    cache.write(path, json.dumps(GOOD).encode())


def test_without_a_file_the_defaults_hold(path):
    assert rates() is DEFAULTS


def test_a_file_is_read_once_and_again_when_that_is_asked_for(path):
    assert rates() is DEFAULTS
    write(path)
    assert rates() is DEFAULTS
    forget_rates()
    assert rates().loop_us == 1e-3
    assert rates().kernels == {"tanh.forward": Correction(2.0, 0.5)}
    assert rates().functions["exp"] == 3.0
    assert rates().functions["log"] == DEFAULTS.functions["log"]  # what was not measured


@pytest.mark.parametrize("content", [b"", b"\xff{", json.dumps(GOOD).encode()])
def test_with_a_file_that_is_damaged_or_foreign_the_defaults_hold(path, content):
    path.write_bytes(content)
    with pytest.warns(RuntimeWarning, match="is damaged, or operad has not written it there"):
        assert rates() is DEFAULTS


def test_a_file_of_another_kind_of_processor_is_not_looked_for(path, monkeypatch):
    write(path)
    monkeypatch.setattr(rates_module, "machine", lambda: "x86_64 another")
    assert rates() is DEFAULTS


def test_corrections_put_a_base_and_a_factor_in_place(path):
    cost = Cost(loops=1000, flops=500, beside_us=7)
    made = cost.corrected(Correction(3.0, 2.0))
    assert made.us == pytest.approx(3 + 2 * cost.work_us)
    assert made.flops == 500  # which says how much is computed, not how fast
    assert cost.corrected(None) is cost


def test_bytes_beyond_half_of_the_last_level_cache_have_the_rate_of_memory(path, monkeypatch):
    write(path)
    monkeypatch.setattr(rates_module, "cached_bytes", lambda: 1000.0)
    assert rates().moving_us(1000) == pytest.approx(1000 * 2e-5)
    assert Cost(size_bytes=3000).us == pytest.approx(1000 * 2e-5 + 2000 * 6e-5)

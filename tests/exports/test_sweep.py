"""The sweep's verdicts and page, which need neither PyTorch nor JAX."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.exports import page as pages
from tests.exports.examples import examples
from tests.exports.sweep import Row, _verdict


def _example(words="data=float32(2,)"):
    return SimpleNamespace(case=SimpleNamespace(describe=lambda: words))


def _raises(example):
    raise ValueError("two\nlines")


def test_a_check_that_compares_nothing_does_not_pass():
    assert _verdict(lambda example: True, [_example()]) == "pass"
    assert _verdict(lambda example: False, [_example()]) == "-"
    assert _verdict(lambda example: True, []) == "-"


def test_a_failure_names_error_case_and_place():
    text = _verdict(_raises, [_example()])
    assert text.startswith("ValueError: two lines [data=float32(2,)] at test_sweep.py:")


def test_the_page_counts_marks_and_lists(monkeypatch):
    monkeypatch.setattr(pages, "version", lambda name: "1.0+cpu")
    checks = {"torch": ("values", "opcheck", "compiled", "gradients", "gradcheck"),
              "jax": ("values", "jit", "vmap", "gradients", "grads")}  # fmt: skip
    record = {}
    for framework, names in checks.items():
        good = Row("good", "acme", 3, dict.fromkeys(names, "pass"), us=(2.0, 42.0))
        bad = Row("bad", "acme", 3, {**dict.fromkeys(names, "-"), names[0]: "ValueError: no"}, "a loss")
        none = Row("none", "acme", reason="it runs graphs")
        record[framework] = {row.operator: row.record() for row in (good, bad, none)}
    text = pages.page(record, "make exports")
    assert "| torch | 3 | 2 | values | 1 | 0 | 1 |" in text
    assert "| `good` |" + " ✓ |" * 10 + " 2 | 42 | 42 |  |" in text
    assert "| `bad` | ✗ | - |" in text
    assert "| a loss |" in text
    assert "* `none` to torch: it runs graphs" in text
    assert "* `bad`, jax values: ValueError: no" in text
    assert "40 us more than `od.nd` in the median of 1 operators" in text


def test_examples_have_arrays_for_every_tensor():
    pytest.importorskip("operad_fully_connected")
    ordinary, smooth = examples("FullyConnected")
    assert len(ordinary) >= 3
    assert smooth
    for example in [*ordinary, *smooth]:
        bias = example.arrays[2]
        assert (bias is None) == bool(example.params.get("no_bias", False))

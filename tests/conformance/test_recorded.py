"""The record's own rules: what counts as equal, how it is stored, how differences are found."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conformance.recorded import differences, faults, files, signature, store
from tests.conformance.recorded.case import Case, digest, exactly, normal
from tests.conformance.recorded.causes import cause_of
from tests.conformance.recorded.checks import UNSEEN, Check
from tests.conformance.recorded.compute import given_outputs, with_dtype
from tests.conformance.recorded.operad_peer import Operad
from tests.conformance.recorded.outcome import Outcome, Refusal, array_difference, difference
from tests.conformance.recorded.update import updated

CASE = Case("tanh", "example", [normal(2, 3)])


def _float32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_rounding_is_no_difference() -> None:
    assert array_difference(_float32(1.0, 100.0), _float32(1.000001, 100.0001), CASE) is None


def test_a_wrong_value_is_a_difference_that_names_its_place() -> None:
    words = array_difference(_float32(1.0, 2.0), _float32(1.0, 3.0), CASE)

    assert words == "2.0 at (1,), expected 3.0 (1 of 2 differ)"


@pytest.mark.parametrize(
    ("found", "expected"),
    [(np.nan, 1.0), (1.0, np.nan), (np.inf, -np.inf), (np.inf, 3e38), (0.0, np.inf)],
)
def test_undefined_and_infinite_values_equal_only_their_like(found: float, expected: float) -> None:
    assert array_difference(_float32(found), _float32(expected), CASE) is not None
    assert array_difference(_float32(expected), _float32(expected), CASE) is None


def test_a_case_that_compares_shapes_still_compares_element_types() -> None:
    case = Case("tanh", "example", [normal(2)], compare="shapes")

    assert array_difference(_float32(1.0), _float32(2.0), case) is None
    assert array_difference(np.zeros(1), _float32(2.0), case) == "float64 (1,), expected float32 (1,)"


def test_a_refusal_equals_only_a_refusal() -> None:
    assert difference(Refusal("here"), Refusal("there"), CASE) is None
    assert difference(Refusal("here"), [_float32(1.0)], CASE) == "refused: here"
    assert difference([_float32(1.0)], Refusal("there"), CASE) == "computed, expected a refusal: there"


def test_what_is_saved_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FACTS", "RESULTS", "VALUES"):
        monkeypatch.setattr(store, name, tmp_path / f"{name}.npz")
    value = np.arange(6, dtype=np.float16).reshape(2, 3)
    outcome = Outcome([value, _float32(2.0)], {1: _float32(3.0)}, {0: value + 1})
    bound = Outcome([value], {}, Refusal("no gradient"))
    written = store.Result("12345678", (0,), outcome, {0: value + 2}, bound, {"outputs": ["x"]})
    failed = store.Result("87654321", (), Outcome(Refusal("it crashes", is_fault=True)))
    record = store.Record({"tanh": {"plugin": "elemwise"}}, {"tanh": {"one": written, "two": failed}})

    record.save()
    read = store.load()

    assert read.facts == record.facts
    assert read.results["tanh"]["two"] == failed
    one = read.results["tanh"]["one"]
    assert (one.digest, one.wrt, one.names) == (written.digest, written.wrt, written.names)
    np.testing.assert_equal(vars(one.forward), vars(outcome))
    np.testing.assert_equal(one.add, {0: value + 2})
    np.testing.assert_equal(vars(one.bound), vars(bound))


def test_verdicts_that_are_saved_are_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "VERDICTS", tmp_path / "files.json")
    verdicts = {"tanh": {"one": store.Verdict("12345678", store.SAME), "two": store.Verdict("0", "refused")}}

    store.Record(verdicts={**verdicts, "sin": {}}).save_verdicts()

    assert store.load().verdicts == verdicts


def test_the_digest_of_files_changes_with_what_they_say_and_not_with_values() -> None:
    case = Case("clip", "example", [normal(2, 3)], {"a_min": 0.0, "a_max": 1.0})
    scaled = dataclasses.replace(case, inputs=[normal(2, 3, scale=2.0)])
    longer = dataclasses.replace(case, inputs=[normal(2, 4)])
    wider = dataclasses.replace(case, params={"a_min": 0.0, "a_max": 2.0})

    told = [files.digest(files.write(Operad(), one)) for one in (case, scaled, longer, wider)]

    assert told[0] == told[1]
    assert len({*told}) == 3


def test_files_that_mxnet_was_not_given_are_never_listed_as_a_difference() -> None:
    check = Check("tanh/example:files", "tanh", "files", lambda: UNSEEN)

    assert "tanh" not in updated([(check, check.run())], differences.Matcher([]))


@pytest.mark.parametrize(
    "changed",
    [
        Case("tanh", "example", [normal(2, 3, scale=1.01)]),
        Case("tanh", "example", [normal(2, 3, dtype="float64")]),
        Case("tanh", "example", [normal(2, 3)], {"axis": 1}),
        Case("tanh", "example", [normal(2, 3)], is_train=False),
    ],
)
def test_a_digest_changes_with_the_case(changed: Case) -> None:
    assert digest(changed) != digest(CASE)


def test_another_dtype_goes_to_the_inputs_that_have_the_first_ones() -> None:
    case = Case("op", "mixed", [exactly([1.5, -2.0]), exactly([1.0], "float64"), exactly([3.0])])

    arrays = with_dtype(case, "uint8").arrays()

    assert [array.dtype.name for array in arrays] == ["uint8", "float64", "uint8"]
    assert arrays[0].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int, required", signature.Signature("int", False, frozenset(), signature.REQUIRED)),
        ("int or None, optional, default='None'", signature.Signature("int", True, frozenset(), None)),
        ("Shape(tuple), optional, default=[0,0]", signature.Signature("shape", False, frozenset(), (0, 0))),
        ("boolean, optional, default=1", signature.Signature("bool", False, frozenset(), True)),
        ("float, optional, default=0.899999976", signature.Signature("float", False, frozenset(), 0.9)),
        (
            "{'avg', 'max'},optional, default='max'",
            signature.Signature("str", False, frozenset({"avg", "max"}), "max"),
        ),
        (
            "{None, 'float16', 'int32'},optional, default='None'",
            signature.Signature("dtype", True, frozenset(), None),
        ),
    ],
)
def test_type_texts_are_read(text: str, expected: signature.Signature) -> None:
    assert signature.of_text(text) == expected


def test_a_pattern_belongs_to_the_checks_it_names_and_no_others() -> None:
    entry = differences.Difference("finding", "why", ("norm/l1_*:forward", "norm:defaults"))
    matcher = differences.Matcher([entry])

    assert matcher.find("norm/l1_tiny:forward") is entry
    assert matcher.find("norm/l1_tiny:gradient") is None
    assert matcher.find("norms/l1_tiny:forward") is None
    assert matcher.unused == {"norm:defaults"}


def test_a_row_is_red_if_it_differs_unlisted_raises_or_is_listed_and_holds() -> None:
    entry = differences.Difference("finding", "why", ("norm/one:*", "norm/two:*", "norm/three:*"))

    def raises() -> str | None:
        raise RuntimeError("broken")

    rows = {
        "norm/one:forward": lambda: "is 1, expected 2",
        "norm/two:forward": lambda: None,
        "norm/three:forward": raises,
        "norm/four:forward": lambda: None,
        "norm/five:forward": lambda: "is 3, expected 4",
        "norm/six:forward": raises,
    }
    assert list(differences.misjudged(differences.Matcher([entry]), rows.items())) == [
        "norm/two:forward: holds, and is listed as a finding: why",
        "norm/five:forward: is 3, expected 4",
        "norm/six:forward: RuntimeError: broken",
    ]


def test_a_difference_without_a_reason_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "differences.toml"
    table.write_text('[[difference]]\nkind = "finding"\noperators = ["norm"]\n')

    with pytest.raises(ValueError, match="needs a kind"):
        differences.load(table)


def _check(test_id: str) -> Check:
    return Check(test_id, re.split("[:/]", test_id)[0], test_id.rpartition(":")[2], lambda: None)


def _updated(entries: list[differences.Difference], failures: dict[str, str | None]) -> list[dict[str, Any]]:
    ran = [(_check(test_id), words) for test_id, words in failures.items()]
    table: list[dict[str, Any]] = tomllib.loads(updated(ran, differences.Matcher(entries)))["difference"]
    return table


def test_an_update_keeps_the_reason_of_what_differs_still() -> None:
    entry = differences.Difference("deliberate", "by hand", ("norm/l1:forward",), "a row")

    assert _updated([entry], {"norm/l1:forward": "output 0: 1.0"}) == [
        {
            "kind": "deliberate",
            "reason": "by hand",
            "row": "a row",
            "operators": ["norm"],
            "checks": ["/l1:forward"],
        }
    ]


def test_an_update_drops_what_holds_and_guesses_the_reason_of_what_is_new() -> None:
    entry = differences.Difference("finding", "by hand", ("norm/l1:*",))

    found = _updated([entry], {"norm/l1:forward": None, "norm:positional": "is 1, expected 2"})

    assert [(one["reason"], one["checks"]) for one in found] == [
        ("parameters by position come in another order", [":positional"])
    ]


def test_operators_that_differ_alike_share_an_entry() -> None:
    found = _updated([], {"sum:aliases": "is 1", "mean:aliases": "is 1", "max:parameters": "is 1"})

    assert [one["operators"] for one in found] == [["sum", "mean"], ["max"]]


def test_a_new_operator_is_no_longer_missing_and_its_failures_are_listed() -> None:
    entry = differences.Difference("missing operator", "no plugin provides it", ("sum[:/]*", "mean[:/]*"))

    found = _updated(
        [entry], {"sum:provided": "no plugin provides it", "mean:provided": None, "mean:aliases": "is 1"}
    )

    assert [(one["kind"], one["operators"]) for one in found] == [
        ("missing operator", ["sum"]),
        ("finding", ["mean"]),
    ]


def test_a_fault_of_a_case_concerns_each_of_its_forms_and_no_other_check() -> None:
    fault = faults.Fault("why", ("norm/l1", "norm:defaults"))

    assert list(fault.patterns) == [
        "norm/l1:forward",
        "norm/l1:gradient",
        "norm/l1:add",
        "norm/l1:bound",
        "norm:defaults",
    ]


@pytest.mark.parametrize(
    ("op", "count", "params", "expected"),
    [
        ("tanh", 1, {}, None),
        ("sgd_mom_update", 3, {}, [0]),
        ("multi_sgd_mom_update", 6, {"num_weights": 2}, [0, 3]),
        ("preloaded_multi_sgd_update", 6, {"num_weights": 2}, [0, 2]),
        ("_multi_adamw_update", 9, {"num_weights": 2}, [0, 4]),
        ("_multi_lamb_update", 8, {"num_tensors": 2}, [0, 4]),
        ("_scatter_set_nd", 3, {}, [0]),
    ],
)
def test_updates_write_to_their_weights(
    op: str, count: int, params: dict[str, Any], expected: list[int] | None
) -> None:
    case = Case(op, "example", [normal(2)] * count, params)

    assert given_outputs(Operad(), case, list(range(count))) == expected


def test_causes_are_told_by_messages() -> None:
    assert cause_of("norm:positional: is 1, expected 2").kind == "finding"
    assert cause_of("sum/empty:forward: output computed, expected a refusal: x").row == "arrays of length 0"

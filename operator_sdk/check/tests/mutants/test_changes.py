from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from operad_check.mutants import changes_in

SOURCE = dedent('''
    """A module."""

    import numpy as np

    from operad_sdk import Contract, OperatorProperty, operator, param

    @operator("scaled_sum")
    class ScaledSum(OperatorProperty):
        """Sums of rows, times a number."""

        factor = param(float, 2.0, ge=0, doc="The number.")
        spec = "data:(N, D + 1) -> output:(N)"
        contract = Contract(reference=lambda data, factor: factor * data.sum(1))

        def _cost(in_shapes, out_shapes):
            return 2.0 * len(in_shapes)

        def forward(data: np.ndarray, factor: float, output: np.ndarray) -> None:
            """One column after the other."""
            if not 0 <= factor < 100:
                raise ValueError(f"factor is {factor}, expected less than {50 + 50}")
            output[...] = 0
            for column in data.T[1:]:
                output += column  # mutant: equivalent, because this is a test
            output += data[:, 0]
            # mutant: np.divide: equivalent, because this is a test, too
            # mutant: is left in: equivalent, because another line is about other changes
            np.multiply(output, factor, out=output)

    def helper(data):
        return data - 1
''').lstrip()


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(SOURCE.splitlines(), 1) if text in line)


FORWARD = (line_of("def forward"), line_of("np.multiply"))


def changes(text: str) -> set[str]:
    spans = [FORWARD, (line_of("def _cost"), line_of("return 2.0"))]
    return {change.words for change in changes_in(SOURCE, spans) if change.line == line_of(text)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("if not 0", {"not 0 <= factor < 100 becomes not (not 0 <= factor < 100)",
                      "not 0 <= factor < 100 becomes (0 <= factor < 100)",
                      "0 <= factor < 100 becomes (0 < factor < 100)",
                      "0 becomes 1", "100 becomes 101"}),
        ("raise", set()),
        ("output[...] = 0", {"output[...] = 0 is left out", "output[...] = 0 becomes output[...] += 0",
                             "0 becomes 1"}),
        ("data.T[1:]", {"1 becomes (1) + 1", "1 becomes 2"}),
        ("data[:, 0]", {"output += data[:, 0] is left out",
                        "output += data[:, 0] becomes output = data[:, 0]", "0 becomes 1"}),
        ("np.multiply", {"np.multiply(output, factor, out=output) is left out",
                         "np.multiply becomes np.divide"}),
        ("spec =", {'"data:(N, D + 1) -> output:(N)" becomes "data:(N, D + 1) -> output:(N + 1)"'}),
        ("factor = param", set()),
        ("contract =", set()),
        ("return 2.0", set()),
        ("data - 1", set()),
    ],
)  # fmt: skip
def test_what_computes_is_changed_and_nothing_else(text: str, words: set[str]) -> None:
    assert changes(text) == words


def test_every_change_is_another_program_that_differs_in_its_place_alone() -> None:
    before = ast.dump(ast.parse(SOURCE))
    for change in changes_in(SOURCE, [FORWARD, (line_of("def helper"), line_of("data - 1"))]):
        changed = change.of(SOURCE)
        assert ast.dump(ast.parse(changed)) != before, change.words
        assert changed.startswith(SOURCE[: change.begin])
        assert changed.endswith(SOURCE[change.end :])


def test_a_line_may_say_that_its_changes_change_nothing() -> None:
    equivalent = {(change.line, change.words): change.equivalent for change in changes_in(SOURCE, [FORWARD])}
    said = {key: reason for key, reason in equivalent.items() if reason}
    line = line_of("np.multiply")
    assert said == {
        **{key: "this is a test" for key in equivalent if key[0] == line_of("output += column")},
        (line, "np.multiply becomes np.divide"): "this is a test, too",
    }
    assert (line, "np.multiply(output, factor, out=output) is left out") in equivalent


def test_other_functions_are_changed_where_they_are_reached() -> None:
    span = (line_of("def helper"), line_of("data - 1"))
    assert {change.words for change in changes_in(SOURCE, [span])} == {
        "data - 1 becomes ((data) + (1))",
        "data - 1 becomes (data)",
        "1 becomes 2",
    }


def test_the_open_length_of_a_reshape_may_be_any_number_below_0() -> None:
    source = "def f(data):\n    return data.reshape((-1, 2)).sum(-1)\n"
    ones = [one for one in changes_in(source, [(1, 2)]) if one.words == "1 becomes 2"]
    assert [bool(one.equivalent) for one in ones] == [True, False]


def test_columns_count_characters_and_not_bytes() -> None:
    source = 'def f(data):\n    return "ä" * 0 + str(data + 1)\n'
    (change,) = [one for one in changes_in(source, [(1, 2)]) if one.words == "data + 1 becomes (data)"]
    assert change.of(source) == 'def f(data):\n    return "ä" * 0 + str((data))\n'

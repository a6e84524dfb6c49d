"""Every operator keeps its contract on a few cases, by the checks that are red first.

`make test-slow` runs all checks of all operators on all cases.
"""

from __future__ import annotations

from typing import Final

import pytest

from operad import registry
from operad_check import Profile, contract_suite
from operad_sdk import unary
from tests.conformance.few_checks import main, red

OPERATORS: Final = sorted(
    record.name
    for record in registry.operators().values()
    if not record.is_alias and record.distribution.startswith("operad-")
    # Programs say what these compute, and the tests of their plugins check that.
    if record.name not in ("Custom", "_cond", "_foreach", "_while_loop")
)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of undefined results
@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_keeps_its_contract_on_a_few_cases(name: str) -> None:
    assert list(red(name)) == []


def test_the_program_names_operators_that_are_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    @unary("few_wrong_square", accepts="floating")
    def wrong(x):
        return x * x

    wrong.gradient(lambda output_grad, x: output_grad * x)
    registry.register(wrong)
    try:
        assert main(["few_wrong_square", "tanh"]) == 1
    finally:
        registry.unregister("few_wrong_square")
    first, second, last = capsys.readouterr().out.splitlines()
    assert "gradient" in first
    assert (second, last.split(" pass")[0]) == ("tanh: right", "1 of 2 operators")
    assert main(["tanh"]) == 0


test_first_party_operators_keep_their_contract = pytest.mark.more(
    contract_suite(
        ["tanh", "elemwise_mul", "smooth_l1", "FullyConnected", "Dropout", "Concat", "SoftmaxOutput"],
        profile=Profile("smoke", examples=40, seconds=0.1, least=20),
    )
)

"""Every operator keeps its contract on a few cases, by the checks that are red first.

`make test-slow` runs all checks of all operators on all cases.
"""

from __future__ import annotations

from typing import Final

import pytest

from operad import registry
from operad_sdk.check import Profile, contract_suite
from tests.conformance.few_checks import red

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


test_first_party_operators_keep_their_contract = pytest.mark.more(
    contract_suite(
        ["tanh", "elemwise_mul", "smooth_l1", "FullyConnected", "Dropout", "Concat", "SoftmaxOutput"],
        profile=Profile("smoke", examples=40, seconds=0.1, least=20),
    )
)

"""The contract checks on one operator of each kind, with few examples; `make test-slow` does the rest."""

from __future__ import annotations

from operad_sdk.check import Profile, contract_suite

test_first_party_operators_keep_their_contract = contract_suite(
    ["tanh", "elemwise_mul", "smooth_l1", "FullyConnected", "Dropout", "Concat", "SoftmaxOutput"],
    profile=Profile("smoke", examples=40, seconds=0.1, least=20),
)

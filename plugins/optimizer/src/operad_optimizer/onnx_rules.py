"""Reasons why operators have no counterpart in ONNX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ABSENT: Final[Mapping[str, str]] = dict.fromkeys(
    (
        "_adamw_update",
        "_contrib_group_adagrad_update",
        "_init_normal",
        "_init_uniform",
        "_mp_adamw_update",
        "_multi_adamw_update",
        "_multi_lamb_update",
        "_multi_mp_adamw_update",
        "_multi_mp_lamb_update",
        "adam_update",
        "ftml_update",
        "ftrl_update",
        "lamb_update_phase1",
        "lamb_update_phase2",
        "mp_lamb_update_phase1",
        "mp_lamb_update_phase2",
        "mp_nag_mom_update",
        "mp_sgd_mom_update",
        "mp_sgd_update",
        "multi_mp_sgd_mom_update",
        "multi_mp_sgd_update",
        "multi_sgd_mom_update",
        "multi_sgd_update",
        "nag_mom_update",
        "preloaded_multi_mp_sgd_mom_update",
        "preloaded_multi_mp_sgd_update",
        "preloaded_multi_sgd_mom_update",
        "preloaded_multi_sgd_update",
        "reset_arrays",
        "rmsprop_update",
        "rmspropalex_update",
        "sgd_mom_update",
        "sgd_update",
        "signsgd_update",
        "signum_update",
    ),
    "it is a part of training",
)

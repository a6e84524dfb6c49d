"""The updates of several tensors: a table of rules, each with the forms that MXNet has of it."""

from __future__ import annotations

from typing import Any, Final

from operad_optimizer.updates import references
from operad_optimizer.updates.adamw import ADAMW, SKIPS, adamw
from operad_optimizer.updates.family import Declared, Rule
from operad_optimizer.updates.gradient_descent import sgd, sgd_momentum
from operad_optimizer.updates.lamb import lamb
from operad_optimizer.updates.references import Reference
from operad_optimizer.updates.several import several

_PRELOADED: Final = "PreloadedMultiSGDKernel, src/operator/contrib/preloaded_multi_sgd-inl.h"


def _forms_of_sgd(
    ending: str, rule: Rule, reference: Reference, momentum: str = "", state: tuple[str, ...] = ()
) -> list[Declared]:
    """The forms with rates as parameters and as arguments, each for weights alone and with their copies."""
    common = f"{momentum} rescale_grad clip_gradient num_weights"
    forms = (
        ("multi_", f"lrs wds {common}", ("lrs=(0.1,)", "wds=(0,)"), "MultiSGDKernel"),
        ("preloaded_multi_", common, ("[0.1]", "[0]"), _PRELOADED),
    )
    tensor, step = ("[1, 2]", "[10, -10]", *state), "[0., 3.]"
    return [
        several(
            f"{begin}{mixed}{ending}", rule, params, (*tensor, *copy, *rates, step), source,
            module=__name__, reference=reference,
        )
        for begin, params, rates, source in forms
        for mixed, copy in (("", ()), ("mp_", ("[1, 2]",)))
    ]  # fmt: skip


(
    multi_sgd_update,
    multi_mp_sgd_update,
    preloaded_multi_sgd_update,
    preloaded_multi_mp_sgd_update,
) = _forms_of_sgd("sgd_update", sgd, references.sgd)

(
    multi_sgd_mom_update,
    multi_mp_sgd_mom_update,
    preloaded_multi_sgd_mom_update,
    preloaded_multi_mp_sgd_mom_update,
) = _forms_of_sgd("sgd_mom_update", sgd_momentum, references.momentum_step, "momentum", ("[0, 0]",))


def _forms(
    name: str, rule: Rule, params: str, example: tuple[str, ...], source: str,
    reference: Reference, *, is_split: bool = True, **contract: Any,
) -> list[Declared]:  # fmt: skip
    """The form for weights alone, and that with their copies, which stand behind the states."""
    *begin, rates, step = example
    given = begin[4:]
    return [
        several(
            name.format(mixed), rule, params, (*begin[:4], *copy, *given, rates, step), source,
            module=__name__, reference=reference, is_split=is_split, **contract,
        )
        for mixed, copy in (("", ()), ("mp_", (begin[0],)))
    ]  # fmt: skip


multi_adamw_update, multi_mp_adamw_update = _forms(
    "_multi_{}adamw_update", adamw, "lrs beta1 beta2 epsilon wds etas clip_gradient num_weights",
    ("[1]", "[2]", "[0]", "[0]", "[1]", "beta1=0.5, beta2=0.75, lrs=(0.1,), wds=(0,), etas=(1,)", "[0.9]"),
    ADAMW, references.adamw, nan_policy=SKIPS,
)  # fmt: skip

multi_lamb_update, multi_mp_lamb_update = _forms(
    "_multi_{}lamb_update", lamb,
    "learning_rates beta1 beta2 epsilon wds rescale_grad lower_bound upper_bound clip_gradient "
    "bias_correction step_count num_tensors",
    ("[3, 4]", "[2, 0]", "[0, 0]", "[0, 0]",
     "learning_rates=(0.1,), wds=(0,), step_count=(1,)", "[2.5, 4. ]"),
    "MultiLAMBKernelStep2, src/operator/contrib/multi_lamb-inl.h", references.lamb, is_split=False,
)  # fmt: skip

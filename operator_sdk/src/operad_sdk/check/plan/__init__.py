"""Which cases an operator is checked on, and why: one plan, made from what the operator declares."""

from operad_sdk.check.plan.plan import CasePlan as CasePlan

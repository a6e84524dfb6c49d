"""Case plans: the cases on which an operator is checked, derived from its declarations, with reasons."""

from operad_check.plan.plan import CasePlan as CasePlan

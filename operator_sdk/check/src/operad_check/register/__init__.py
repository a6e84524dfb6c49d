"""The register of checks: what each looks at, and the docstring that explains it."""

from operad_check.register.check import Check as Check
from operad_check.register.check import Evidence as Evidence
from operad_check.register.check import sections as sections
from operad_check.register.register import all_checks as all_checks
from operad_check.register.register import check as check
from operad_check.register.register import entries as entries
from operad_check.register.register import find_check as find_check
from operad_check.register.register import library_check as library_check
from operad_check.register.register import operator_entries as operator_entries
from operad_check.register.register import rule as rule

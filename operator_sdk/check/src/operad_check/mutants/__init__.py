"""Small changes of an operator's own source, and whether the checks notice them: mutation testing."""

from operad_check.mutants.changes import Change as Change
from operad_check.mutants.changes import changes_in as changes_in
from operad_check.mutants.judged import Verdict as Verdict
from operad_check.mutants.judged import judged as judged
from operad_check.mutants.reached import Reached as Reached
from operad_check.mutants.reached import reached as reached

"""The door for data files: budgets of the process, lines, compressed and expanded contents."""

from operad_files.limits import check_entries as check_entries
from operad_files.limits import expanding as expanding
from operad_files.limits import reading as reading
from operad_files.readers import opened as opened
from operad_files.readers import read_bytes as read_bytes
from operad_files.readers import read_lines as read_lines

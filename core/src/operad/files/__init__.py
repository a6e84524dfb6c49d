"""The door through which every file and stream comes in and goes out.

Sizes are compared with limits before memory is asked for, and what goes wrong leaves as an `OperadError`
that names the file. SECURITY.md has the table of limits, and what is opened elsewhere.
"""

from operad.files.errors import translated as translated
from operad.files.limits import check_bytes as check_bytes
from operad.files.limits import check_entries as check_entries
from operad.files.limits import expanding as expanding
from operad.files.limits import reading as reading
from operad.files.reading import check_file as check_file
from operad.files.reading import open_descriptor as open_descriptor
from operad.files.reading import opened as opened
from operad.files.reading import parse_json as parse_json
from operad.files.reading import read_bytes as read_bytes
from operad.files.reading import read_lines as read_lines
from operad.files.reading import read_text as read_text
from operad.files.writing import write_atomically as write_atomically

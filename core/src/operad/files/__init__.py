"""The door through which every file comes in and goes out.

Sizes are compared with limits before memory is asked for, and what goes wrong leaves as an `OperadError`
that names the file. SECURITY.md has the table of limits, and what is opened elsewhere. Data files, which
may be large, compressed or lists of millions, are read by `operad_files` through this door.
"""

from operad.files.errors import translated as translated
from operad.files.reading import check_bytes as check_bytes
from operad.files.reading import check_file as check_file
from operad.files.reading import check_text as check_text
from operad.files.reading import open_descriptor as open_descriptor
from operad.files.reading import parse_json as parse_json
from operad.files.reading import read_bytes as read_bytes
from operad.files.reading import read_text as read_text
from operad.files.writing import write_atomically as write_atomically

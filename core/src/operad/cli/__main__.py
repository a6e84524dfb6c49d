"""`python -m operad.cli`, for where the script `operad` is not on the path."""

from operad.cli.group import main

main(prog_name="operad")

"""`python -m operad.cli`, for where the script `operad` is not on the path."""

from operad.cli.group import main

# Processes that a command starts import this module again, under another name.
if __name__ == "__main__":
    main(prog_name="operad")

"""`operad stubs`: type stubs of the installed operators, for editors and type checkers."""

from operad.cli.stubs.command import stubs as stubs

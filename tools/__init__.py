"""Scripts behind the Makefile; run as `python -m tools.NAME` from the root of the checkout."""

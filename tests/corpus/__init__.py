"""Functions of other libraries that are checked as a whole: `make check-corpus`."""

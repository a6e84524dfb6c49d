"""The checks themselves, one module a group or part of one."""

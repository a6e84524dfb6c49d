"""The checks themselves, one module per group, or per part of one."""

"""The zoo's modules are data of tests: their examples are wrong on purpose."""

collect_ignore_glob = ["*.py"]

collect_ignore = ["programs"]  # of other libraries, run in processes of their own

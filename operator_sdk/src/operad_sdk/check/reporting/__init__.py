"""Reports: what checks found as data, text and a page, which of it is a cause, and what to do about it."""

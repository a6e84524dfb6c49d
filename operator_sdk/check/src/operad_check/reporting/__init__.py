"""Reports of checks as data, text and a page, with causes and advice."""

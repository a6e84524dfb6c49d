"""A page and a file of plugins, written from wheels without importing them."""

from operad_index.contents import index_of as index_of
from operad_index.page import page as page

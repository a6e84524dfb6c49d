"""The likelihood of a Hawkes process, `_contrib_hawkesll`."""

from operad_hawkes.hawkesll import hawkesll as hawkesll

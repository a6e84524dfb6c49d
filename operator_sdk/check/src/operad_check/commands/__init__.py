"""Commands that the toolkit adds to `operad`, one module per command (`operad.commands`)."""

"""What the toolkit adds to the command `operad`, one module per command (`operad.commands`)."""

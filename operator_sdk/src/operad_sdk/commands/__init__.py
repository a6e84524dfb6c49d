"""What the toolkit adds to the command `operad`, one module a command (`operad.commands`)."""

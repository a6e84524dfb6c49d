"""Name of a distribution alone: `operad-standard` installs every first-party operator plugin."""

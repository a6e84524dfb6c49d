"""Nothing but a name: installing `operad-standard` installs every first-party operator plugin."""

"""Programs that show operad at work on real data."""

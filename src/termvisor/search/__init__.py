"""Questions to the history."""

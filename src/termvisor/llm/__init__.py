"""Model backends of the assistant."""

"""Generate shell completion scripts from the declarations of the operations."""

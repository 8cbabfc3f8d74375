"""Execute the single steps of a run. Read ``dispatch`` first."""

"""Execute the individual steps of a run. Read ``dispatch`` first."""

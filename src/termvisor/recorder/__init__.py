"""The dumb little process that holds the pipes and appends the raw logs."""

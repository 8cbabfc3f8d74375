"""Run a command, know its status, harvest it."""

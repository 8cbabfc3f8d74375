"""One small package per agent program."""

"""Values that describe panes, their output and screens, shell commands and searches."""

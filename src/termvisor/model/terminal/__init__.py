"""Values of panes, their output and screens, shell commands and searches."""

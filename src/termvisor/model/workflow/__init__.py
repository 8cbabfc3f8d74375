"""Values of workflows and their runs."""

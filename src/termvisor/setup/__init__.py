"""Shell integration and agent hooks: generate them, and add them to users' files in place."""

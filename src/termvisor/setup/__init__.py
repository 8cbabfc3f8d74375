"""Shell integration and agent hooks: build them, add them to users' files, and edit those files in place."""

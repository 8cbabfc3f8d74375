"""The PTY front end of visor sh."""

"""Facts on disk; the only package that knows SQLite."""

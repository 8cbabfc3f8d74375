"""The process that watches."""

"""Accounts: what is left of each, which one to use, and how a program starts under it."""

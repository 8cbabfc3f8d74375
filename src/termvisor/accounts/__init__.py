"""Accounts of agent services: track remaining quota, select an account, and start a program with it."""

"""Accounts of agent services: remaining quota, selection of an account, and starting a program with it."""

"""Durable runs."""

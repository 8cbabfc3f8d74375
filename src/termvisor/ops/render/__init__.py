"""Render results as text: tables, ages, sanitized cells, action descriptions."""

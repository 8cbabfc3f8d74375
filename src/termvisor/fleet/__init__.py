"""Collectors and aggregators of many machines."""

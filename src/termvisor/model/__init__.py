"""The values that all stages speak in."""

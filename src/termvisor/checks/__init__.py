"""What visor doctor looks at."""

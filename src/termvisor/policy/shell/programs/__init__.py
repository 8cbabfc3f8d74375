"""Functions for programs whose effect the table cannot express, one module per topic."""

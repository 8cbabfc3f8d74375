"""Everything the product can do, one file an operation."""

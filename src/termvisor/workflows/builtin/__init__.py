"""Workflows that come with the product, one file each; they know the Context and values, nothing else."""

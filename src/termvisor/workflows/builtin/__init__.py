"""The built-in workflows, one file each; they use only the workflow API and values."""

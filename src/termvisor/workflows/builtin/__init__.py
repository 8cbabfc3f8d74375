"""The built-in workflows, one file each. They use only the workflow API and model values."""

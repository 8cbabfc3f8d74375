"""A hypervisor for terminals full of AI agents."""

__version__ = "0.1.0"

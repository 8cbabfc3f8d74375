"""Immutable values shared by all packages: terminal, agents, actions, detections, workflows, settings."""

"""Analyze command lines: parse them with the shell's grammar and classify their effects.

In: a text or argv, and the folders that paths are relative to. Out: a `CommandAnalysis`. Read `analyzer.py` first.
"""

from termvisor.policy.shell.analyzer import CommandAnalysis, CommandFinding, analyze_argv, analyze_command

__all__ = ["CommandAnalysis", "CommandFinding", "analyze_argv", "analyze_command"]

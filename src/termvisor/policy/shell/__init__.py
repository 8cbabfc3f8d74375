"""Command lines: what they would do, told by their structure and not by what they look like."""

from termvisor.policy.shell.analysis import CommandAnalysis, CommandFinding
from termvisor.policy.shell.analyzer import analyze_argv, analyze_command

__all__ = ["CommandAnalysis", "CommandFinding", "analyze_argv", "analyze_command"]

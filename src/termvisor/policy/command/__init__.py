"""Command lines: what they would do, told by their structure and not by what they look like."""

from termvisor.policy.command.examine import examine, examine_argv
from termvisor.policy.command.examined import Examined, Finding

__all__ = ["Examined", "Finding", "examine", "examine_argv"]

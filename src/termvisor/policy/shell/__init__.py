"""Command lines: what they would do, told by their structure and not by what they look like."""

from termvisor.policy.shell.analysis import Examined, Finding
from termvisor.policy.shell.analyzer import examine, examine_argv

__all__ = ["Examined", "Finding", "examine", "examine_argv"]

"""Recognize the Gemini CLI process: a node script that starts itself again; the inner process is the agent."""

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.command_line import ProgramMatcher, SessionResume

PROGRAM_MATCHER = ProgramMatcher(
    program_names=frozenset({"gemini"}),
    script_pattern=r"/@google/gemini-cli/(?:bundle/|dist/)\S*\.js$|/\.?bin/gemini$",
    non_agent_commands=frozenset({"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"}),
)
SESSION_RESUME = SessionResume(("gemini", "--resume", "{}"))
"""Works only in the folder in which the session was started."""


def find_resumed_session(process: ProcessInfo) -> str:
    return SESSION_RESUME.find_resumed_session(("-r", "--resume"), PROGRAM_MATCHER.get_arguments(process) or ())

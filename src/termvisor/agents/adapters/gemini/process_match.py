"""Which process is a Gemini CLI: a script that node runs, started twice. The inner one talks and runs the hooks."""

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.command_line import ProgramMatcher, SessionResume

PROGRAM_MATCHER = ProgramMatcher(
    program_names=frozenset({"gemini"}),
    script_pattern=r"/@google/gemini-cli/(?:bundle/|dist/)\S*\.js$|/\.?bin/gemini$",
    non_agent_commands=frozenset({"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"}),
)
SESSION_RESUME = SessionResume(("gemini", "--resume", "{}"))
"""Only in the folder in which the session began."""


def find_resumed_session(process: ProcessInfo) -> str:
    return SESSION_RESUME.find_resumed_session(("-r", "--resume"), PROGRAM_MATCHER.get_arguments(process) or ())

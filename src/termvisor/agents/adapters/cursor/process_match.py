"""Recognize the Cursor agent process: a script that a bundled node runs under the name of the command."""

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.command_line import ProgramMatcher, SessionResume

PROGRAM_MATCHER = ProgramMatcher(
    program_names=frozenset({"cursor-agent"}),
    script_pattern=r"/cursor-agent/(?:versions/[^/]+/)?index\.js$",
    non_agent_commands=frozenset(
        {
            "login",
            "logout",
            "status",
            "whoami",
            "models",
            "update",
            "upgrade",
            "mcp",
            "about",
            "ls",
            "create-chat",
            "generate-rule",
            "rule",
        }
    ),
)
SESSION_RESUME = SessionResume(("cursor-agent", "--resume={}"))


def find_resumed_session(process: ProcessInfo) -> str:
    return SESSION_RESUME.find_resumed_session(("--resume",), PROGRAM_MATCHER.get_arguments(process) or ())

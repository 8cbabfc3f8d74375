"""Recognize the interactive opencode process and find the port on its command line."""

import re

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.command_line import ProgramMatcher, SessionResume, get_option_value

PROGRAM_MATCHER = ProgramMatcher(
    program_names=frozenset({"opencode"}),
    script_pattern=r"/opencode-ai/bin/opencode(?:\.exe)?$|/\.?bin/opencode$",
    non_agent_commands=frozenset(
        {
            "acp",
            "agent",
            "auth",
            "completion",
            "console",
            "db",
            "debug",
            "export",
            "generate",
            "github",
            "import",
            "login",
            "logout",
            "mcp",
            "models",
            "plugin",
            "plug",
            "pr",
            "providers",
            "serve",
            "session",
            "stats",
            "uninstall",
            "upgrade",
            "web",
        }
    ),
)
SESSION_RESUME = SessionResume(("opencode", "--session", "{}"), r"ses_[0-9A-Za-z]{8,64}")
_PORT_NUMBER = re.compile(r"[1-9]\d{0,4}")


def find_resumed_session(process: ProcessInfo) -> str:
    return SESSION_RESUME.find_resumed_session(("-s", "--session"), PROGRAM_MATCHER.get_arguments(process) or ())


def find_requested_port(process: ProcessInfo) -> int:
    """Return the port on its command line; 0 if there is none or the system chooses it."""
    port = get_option_value(("--port",), PROGRAM_MATCHER.get_arguments(process) or ())
    return int(port) if _PORT_NUMBER.fullmatch(port) else 0

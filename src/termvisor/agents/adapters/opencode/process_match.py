"""Which process is an opencode with a face, and where it was told to listen."""

import re

from termvisor.agents.adapters.adapter import Process
from termvisor.agents.adapters.command_line import Launch, Resume, value_of

LAUNCH = Launch(
    names=frozenset({"opencode"}),
    script=r"/opencode-ai/bin/opencode(?:\.exe)?$|/\.?bin/opencode$",
    errands=frozenset(
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
RESUME = Resume(("opencode", "--session", "{}"), r"ses_[0-9A-Za-z]{8,64}")
_PORT = re.compile(r"[1-9]\d{0,4}")


def resumed_by(process: Process) -> str:
    return RESUME.named(("-s", "--session"), LAUNCH.words(process) or ())


def port_of(process: Process) -> int:
    """The port that its command line names; 0 where it names none, or leaves it to the system."""
    port = value_of(("--port",), LAUNCH.words(process) or ())
    return int(port) if _PORT.fullmatch(port) else 0

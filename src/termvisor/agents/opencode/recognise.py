"""Which process is an opencode with a face, and where its server listens."""

import re

from termvisor.agents.base import Process
from termvisor.agents.launch import Launch, Resume, value_of

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
_HERE = ("127.0.0.1", "localhost")
_PORT = re.compile(r"[1-9]\d{0,4}")


def resumed_by(process: Process) -> str:
    return RESUME.named(("-s", "--session"), LAUNCH.words(process) or ())


def server_of(process: Process) -> str:
    """The address under which it answers; empty where its command line names none. It listens only if told to."""
    words = LAUNCH.words(process) or ()
    port, host = value_of(("--port",), words), value_of(("--hostname",), words) or "127.0.0.1"
    return f"http://{host}:{port}" if host in _HERE and _PORT.fullmatch(port) else ""

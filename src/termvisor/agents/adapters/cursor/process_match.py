"""Which process is a Cursor agent: a script that a node of its own runs, under the name of the command."""

from termvisor.agents.adapters.adapter import Process
from termvisor.agents.adapters.command_line import Launch, Resume

LAUNCH = Launch(
    names=frozenset({"cursor-agent"}),
    script=r"/cursor-agent/(?:versions/[^/]+/)?index\.js$",
    errands=frozenset(
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
RESUME = Resume(("cursor-agent", "--resume={}"))


def resumed_by(process: Process) -> str:
    return RESUME.named(("--resume",), LAUNCH.words(process) or ())

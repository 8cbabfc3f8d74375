"""Which process is a Copilot with a face, and where it leaves word on disk."""

import posixpath

from termvisor.agents.adapters.adapter import Process, Watch
from termvisor.agents.adapters.command_line import Launch, Resume
from termvisor.model.agent.signal import Hint

ENV_NAMES = ("HOME", "COPILOT_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
LAUNCH = Launch(
    names=frozenset({"copilot"}),
    script=r"/@github/copilot(?:-[a-z0-9-]+)?/\S*\.js$|/\.?bin/copilot$",
    errands=frozenset(
        {"--acp", "--server", "completion", "init", "login", "logout", "mcp", "plugin", "skill", "update"}
    ),
)
RESUME = Resume(("copilot", "--resume={}"))


def watches(process: Process) -> list[Watch]:
    """The log of the one session in whose folder this process holds the lock; it changes with the session."""
    home = process.env.get("COPILOT_HOME", "")
    user = process.env.get("HOME", "")
    folder = posixpath.join(process.cwd, home) if home else posixpath.join(user, ".copilot") if user else ""
    if not folder:
        return []
    watch = Watch(
        source="session_file",
        kind="lines",
        folder=posixpath.join(folder, "session-state"),
        pattern="events.jsonl",
        beside=f"inuse.{process.pid}.lock",
        is_deep=True,
        from_start=True,
        hint=Hint(pid=process.pid, pid_started=process.pid_started),
    )
    return [watch]


def resumed_by(process: Process) -> str:
    return RESUME.named(("--resume",), LAUNCH.words(process) or ())

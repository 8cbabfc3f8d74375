"""Which process is a Gemini CLI: a script that node runs, started twice. The inner one talks and runs the hooks."""

from termvisor.agents.adapters.adapter import Process
from termvisor.agents.adapters.command_line import Launch, Resume

LAUNCH = Launch(
    names=frozenset({"gemini"}),
    script=r"/@google/gemini-cli/(?:bundle/|dist/)\S*\.js$|/\.?bin/gemini$",
    errands=frozenset({"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"}),
)
RESUME = Resume(("gemini", "--resume", "{}"))
"""Only in the folder in which the session began."""


def resumed_by(process: Process) -> str:
    return RESUME.named(("-r", "--resume"), LAUNCH.words(process) or ())

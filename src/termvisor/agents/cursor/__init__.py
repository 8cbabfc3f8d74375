"""Cursor CLI (`cursor-agent`, also started as `agent`), by Anysphere.

Written from what its makers document; not yet tried on the real program. Its hooks are told to the spool; an approval
that a person is asked for in the terminal has no hook of its own, so that is seen on the screen only.
"""

from termvisor.agents.base import TELLS
from termvisor.agents.composed import Composed
from termvisor.agents.cursor import look, recognise, signals
from termvisor.model.source import LOOKS, told

ADAPTER = Composed(
    name="cursor",
    capabilities=frozenset({*TELLS, "recognise", "signals", "look", "subtasks", "compaction", "resume"})
    - {"supports_waiting_input"},
    sources=(told("hook", 1, has_holes=True), *LOOKS),
    found=recognise.LAUNCH.found,
    is_title=lambda title: title.startswith("Cursor Agent"),
    readers={"hook": signals.read},
    sight=look.SIGHT,
    resume=recognise.RESUME,
    resumed=recognise.resumed_by,
)

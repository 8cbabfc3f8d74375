"""Cursor CLI (`cursor-agent`, also started as `agent`), by Anysphere.

Written from what its makers document; not yet tried on the real program. Its hooks are told to the spool; an approval
that a person is asked for in the terminal has no hook of its own, so that is seen on the screen only.
"""

from termvisor.agents.adapters.adapter import TELLS
from termvisor.agents.adapters.composed_adapter import Composed
from termvisor.agents.adapters.cursor import process_match as recognise
from termvisor.agents.adapters.cursor import screen_rules as look
from termvisor.agents.adapters.cursor import signals
from termvisor.model.agent.evidence_source import LOOKS, told

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

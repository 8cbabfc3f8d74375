"""opencode, by SST.

It speaks through a plugin of ours that runs inside it and writes to the hooks' spool; nothing is missing there. With
`--port` it also takes answers over HTTP. Without either its screens are known.
"""

from termvisor.agents.base import TELLS
from termvisor.agents.composed import Composed
from termvisor.agents.opencode import look, recognise, signals
from termvisor.model.source import LOOKS, told

ADAPTER = Composed(
    name="opencode",
    capabilities=frozenset(
        {*TELLS, "recognise", "signals", "look", "subtasks", "usage_limit", "compaction", "auth", "resume"}
    ),
    sources=(told("hook", 1), *LOOKS),
    found=recognise.LAUNCH.found,
    is_title=lambda title: title == "OpenCode" or title.startswith("OC | "),
    readers={"hook": signals.read},
    sight=look.SIGHT,
    resume=recognise.RESUME,
    resumed=recognise.resumed_by,
)

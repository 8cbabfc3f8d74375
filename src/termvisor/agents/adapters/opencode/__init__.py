"""opencode, by SST.

With `--port` it has a server that tells every event and takes answers; nothing is missing there. Else it speaks through
a plugin of ours that runs inside it and writes to the hooks' spool. Without either its screens are known.
"""

from termvisor.agents.adapters.adapter import WELL_KNOWN
from termvisor.agents.adapters.composed_adapter import Composed
from termvisor.agents.adapters.opencode import process_match as recognise
from termvisor.agents.adapters.opencode import screen_rules as look
from termvisor.agents.adapters.opencode import signals
from termvisor.model.agent.evidence_source import LOOKS, told

ADAPTER = Composed(
    name="opencode",
    capabilities=WELL_KNOWN | {"native_approve", "native_send"},
    sources=(told("server", 1), told("hook", 2), *LOOKS),
    found=recognise.LAUNCH.found,
    is_title=lambda title: title == "OpenCode" or title.startswith("OC | "),
    readers={"hook": signals.read, "server": signals.read},
    sight=look.SIGHT,
    resume=recognise.RESUME,
    resumed=recognise.resumed_by,
)

"""opencode, by SST.

With `--port` it has a server that tells every event and takes answers; nothing is missing there. Else it speaks through
a plugin of ours that runs inside it and writes to the hooks' spool. Without either its screens are known.
"""

from termvisor.agents.base import WELL_KNOWN
from termvisor.agents.composed import Composed
from termvisor.agents.opencode import look, recognise, signals
from termvisor.model.source import LOOKS, told

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

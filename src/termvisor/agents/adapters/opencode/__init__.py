"""opencode, by SST.

With `--port` it has a server that tells every event and takes answers; nothing is missing there. Else it speaks through
a plugin of ours that runs inside it and writes to the hooks' spool. Without either its screens are known.
"""

from termvisor.agents.adapters.adapter import FULL_CAPABILITIES
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.agents.adapters.opencode import process_match, screen_rules, signals
from termvisor.model.agent.evidence_source import HEURISTIC_SOURCES, build_native_source

ADAPTER = ComposedAdapter(
    name="opencode",
    capabilities=FULL_CAPABILITIES | {"native_approve", "native_send"},
    sources=(build_native_source("server", 1), build_native_source("hook", 2), *HEURISTIC_SOURCES),
    process_finder=process_match.PROGRAM_MATCHER.find_agent,
    title_matcher=lambda title: title == "OpenCode" or title.startswith("OC | "),
    readers={"hook": signals.read_event, "server": signals.read_event},
    screen_classifier=screen_rules.SCREEN_CLASSIFIER,
    session_resume=process_match.SESSION_RESUME,
    resumed_session_finder=process_match.find_resumed_session,
)

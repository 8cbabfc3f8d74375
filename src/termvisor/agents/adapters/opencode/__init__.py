"""Adapter for opencode, by SST.

Evidence sources: with `--port`, its HTTP server, which reports every event and accepts answers; otherwise our plugin
that runs inside opencode and writes to the hook spool; and its screens.
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

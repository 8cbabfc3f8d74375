"""Adapter for Cursor CLI (`cursor-agent`, also started as `agent`), by Anysphere.

Written from the vendor's documentation, not yet tested with the real program. Evidence sources: hooks, and the screen,
because no hook reports an approval dialog in the terminal.
"""

from termvisor.agents.adapters.adapter import EVENT_DRIVEN_CAPABILITIES
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.agents.adapters.cursor import process_match, screen_rules, signals
from termvisor.model.agent.evidence_source import HEURISTIC_SOURCES, build_native_source

ADAPTER = ComposedAdapter(
    name="cursor",
    capabilities=frozenset(
        {*EVENT_DRIVEN_CAPABILITIES, "recognise", "signals", "look", "subtasks", "compaction", "resume"}
    )
    - {"supports_waiting_input"},
    sources=(build_native_source("hook", 1, has_holes=True), *HEURISTIC_SOURCES),
    process_finder=process_match.PROGRAM_MATCHER.find_agent,
    title_matcher=lambda title: title.startswith("Cursor Agent"),
    readers={"hook": signals.read_hook},
    screen_classifier=screen_rules.SCREEN_CLASSIFIER,
    session_resume=process_match.SESSION_RESUME,
    resumed_session_finder=process_match.find_resumed_session,
)

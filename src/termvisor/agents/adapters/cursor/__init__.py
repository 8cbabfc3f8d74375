"""Cursor CLI (`cursor-agent`, also started as `agent`), by Anysphere.

Written from what its makers document; not yet tried on the real program. Its hooks are told to the spool; an approval
that a person is asked for in the terminal has no hook of its own, so that is seen on the screen only.
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

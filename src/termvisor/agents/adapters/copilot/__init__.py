"""Adapter for GitHub Copilot CLI.

Evidence sources: a complete event log of each session, without any setup, with a lock file that names the process; and
hooks, which report less but earlier than the log of the first prompt, and can answer permission requests.
"""

from termvisor.agents.adapters.adapter import FULL_CAPABILITIES
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.agents.adapters.copilot import events, hooks, process_match, screen_rules, transcript_text
from termvisor.model.agent.evidence_source import HEURISTIC_SOURCES, build_native_source

ADAPTER = ComposedAdapter(
    name="copilot",
    capabilities=FULL_CAPABILITIES | {"native_approve"},
    sources=(
        build_native_source("session_file", 1),
        build_native_source("hook", 2, has_holes=True),
        *HEURISTIC_SOURCES,
    ),
    env_names=process_match.ENV_NAMES,
    process_finder=process_match.PROGRAM_MATCHER.find_agent,
    title_matcher=lambda title: title == "GitHub Copilot" or title.endswith(" - GitHub Copilot"),
    path_lister=process_match.list_watched_paths,
    readers={"session_file": events.read_session_event, "hook": hooks.read_hook},
    transcript_readers={"session_file": transcript_text.read_transcript_text},
    screen_classifier=screen_rules.SCREEN_CLASSIFIER,
    session_resume=process_match.SESSION_RESUME,
    resumed_session_finder=process_match.find_resumed_session,
)

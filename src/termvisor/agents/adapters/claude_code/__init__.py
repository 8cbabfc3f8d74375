"""Adapter for Claude Code, by Anthropic.

Evidence sources: a registry file for each process (the best one, without any setup), hooks, the transcript, OSC 7501 if
the terminal requested it, and its screens as independent evidence.
"""

from termvisor.agents.adapters.adapter import FULL_CAPABILITIES
from termvisor.agents.adapters.claude_code import (
    hooks,
    log_locations,
    osc,
    process_match,
    registry,
    screen_rules,
    title,
    transcript,
    transcript_text,
)
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.model.agent.evidence_source import HEURISTIC_SOURCES, OSC_SOURCE, EvidenceSource, build_native_source

ADAPTER = ComposedAdapter(
    name=process_match.AGENT_NAME,
    capabilities=FULL_CAPABILITIES | {"native_approve"},
    sources=(
        build_native_source("registry", 2, blind_to=("error", "completed")),
        OSC_SOURCE,
        build_native_source("hook", 3, has_holes=True),
        EvidenceSource(name="transcript", tier="deterministic", rank=4, has_holes=True, is_shared=True),
        EvidenceSource(name=transcript.SUBAGENT_SOURCE, tier="deterministic", rank=5, has_holes=True, is_shared=True),
        *HEURISTIC_SOURCES,
    ),
    env_names=log_locations.ENV_NAMES,
    process_finder=process_match.find_process,
    title_matcher=title.matches_title,
    path_lister=log_locations.list_watched_paths,
    readers={
        "registry": registry.read_registry,
        "osc": osc.read_osc,
        "hook": hooks.read_hook,
        "transcript": transcript.read_transcript,
        transcript.SUBAGENT_SOURCE: transcript.read_subagent_transcript,
        "title": title.read_title,
    },
    transcript_readers={"transcript": transcript_text.read_transcript_text},
    screen_classifier=screen_rules.SCREEN_CLASSIFIER,
    session_resume=process_match.SESSION_RESUME,
    resumed_session_finder=process_match.find_resumed_session,
)

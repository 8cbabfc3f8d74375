"""Adapter for Codex, by OpenAI.

Evidence sources: OSC marks in its own pane; the app-server that all Codex processes share, which reports every change
of every thread; hooks, a notify program and rollout files, which name only the thread. See `threads` for how the pane
of a thread is proven.
"""

from termvisor.agents.adapters.adapter import FULL_CAPABILITIES
from termvisor.agents.adapters.codex import (
    exec_json,
    hooks,
    osc,
    process_match,
    rollout,
    screen_rules,
    server_messages,
    title,
)
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.agents.adapters.transcript_text import build_hook_transcript_reader
from termvisor.model.agent.evidence_source import (
    HEURISTIC_SOURCES,
    OSC_SOURCE,
    PRINTED_SOURCE,
    EvidenceSource,
    build_native_source,
)

ADAPTER = ComposedAdapter(
    name=process_match.AGENT_NAME,
    capabilities=FULL_CAPABILITIES | {"native_approve", "native_send"},
    sources=(
        build_native_source("app_server", 1, blind_to=("completed",)),
        OSC_SOURCE,
        EvidenceSource(name="hook", tier="deterministic", rank=3, has_holes=True, is_shared=True),
        EvidenceSource(name="notify", tier="deterministic", rank=3, has_holes=True, is_shared=True),
        EvidenceSource(name="rollout", tier="deterministic", rank=4, has_holes=True, is_shared=True),
        PRINTED_SOURCE,
        *HEURISTIC_SOURCES,
    ),
    env_names=("HOME", "CODEX_HOME"),
    process_finder=process_match.find_process,
    title_matcher=title.matches_title,
    path_lister=rollout.list_watched_paths,
    readers={
        "osc": osc.read_osc,
        "app_server": server_messages.read_server_message,
        "hook": hooks.read_hook,
        "notify": hooks.read_hook,
        "rollout": rollout.read_rollout,
        PRINTED_SOURCE.name: exec_json.read_exec_line,
        "title": title.read_title,
    },
    transcript_readers={
        "hook": build_hook_transcript_reader(
            ("UserPromptSubmit", "user", "prompt"), ("Stop", "assistant", "last_assistant_message")
        )
    },
    screen_classifier=screen_rules.SCREEN_CLASSIFIER,
    session_resume=process_match.SESSION_RESUME,
    resumed_session_finder=process_match.find_resumed_session,
    json_output_check=exec_json.is_printing_json,
)

"""Gemini CLI, by Google.

It speaks in its title, which has a sign for each state and is there without any set-up, and in hooks. Both leave holes:
the title knows no kinds of ends and of questions, the hooks no refusal, and neither tells when a compression is over,
nor of dialogs that are no tool's: whether to trust the folder, how to go on at a usage limit, a menu. They are equals,
and the later word counts. Notifications come where they are switched on. Its session files name no process, and several
run in one folder, so they are not read.
"""

from termvisor.agents.adapters.adapter import EVENT_DRIVEN_CAPABILITIES
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.agents.adapters.gemini import process_match, screen_rules, signals
from termvisor.agents.adapters.transcript_text import build_hook_transcript_reader
from termvisor.model.agent.evidence_source import EvidenceSource, build_heuristic_source

ADAPTER = ComposedAdapter(
    name="gemini",
    capabilities=frozenset(
        {*EVENT_DRIVEN_CAPABILITIES, "recognise", "signals", "look", "usage_limit", "compaction", "auth", "resume"}
    ),
    sources=(
        EvidenceSource(
            name="title",
            tier="deterministic",
            rank=1,
            reads_stream=True,
            has_holes=True,
            blind_to=("error", "completed", "waiting_input"),
            blurs_ends=True,
            misses_dialogs=True,
        ),
        EvidenceSource(name="hook", tier="deterministic", rank=1, has_holes=True, blurs_ends=True, misses_dialogs=True),
        build_heuristic_source("screen", 10),
        build_heuristic_source("process", 12),
        build_heuristic_source("notification", 13),
    ),
    process_finder=process_match.PROGRAM_MATCHER.find_agent,
    title_matcher=signals.title_matches,
    readers={"hook": signals.read_hook, "title": signals.read_title, "notification": signals.read_notification},
    transcript_readers={
        "hook": build_hook_transcript_reader(
            ("BeforeAgent", "user", "prompt"), ("AfterAgent", "assistant", "prompt_response")
        )
    },
    screen_classifier=screen_rules.SCREEN_CLASSIFIER,
    session_resume=process_match.SESSION_RESUME,
    resumed_session_finder=process_match.find_resumed_session,
)

"""Declare the adapter for Gemini CLI, by Google: its evidence sources and its process.

Evidence sources: the pane title, which has a symbol for each state and needs no setup, and hooks. Both are incomplete:
the title does not distinguish how turns end or kinds of questions, hooks do not report a denial, and neither reports
the end of a compression or dialogs that belong to no tool (folder trust, usage limit, menus). They have the same rank,
and the later one counts. Notifications are sent if the user enabled them. Session files name no process, and several
sessions share a folder, so they are not read.

The process is a node script that starts itself again; the inner process is the agent.
"""

from termvisor.agents.adapters.adapter import EVENT_DRIVEN_CAPABILITIES
from termvisor.agents.adapters.command_line import ProgramMatcher, SessionResume
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.agents.adapters.gemini import hooks, screen, terminal_signals
from termvisor.agents.adapters.transcript_text import build_hook_transcript_reader
from termvisor.model.agent.evidence import EvidenceSource, build_heuristic_source

PROGRAM_MATCHER = ProgramMatcher(
    program_names=frozenset({"gemini"}),
    script_pattern=r"/@google/gemini-cli/(?:bundle/|dist/)\S*\.js$|/\.?bin/gemini$",
    non_agent_commands=frozenset({"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"}),
)
# Works only in the folder where the session was started.
SESSION_RESUME = SessionResume(("gemini", "--resume", "{}"))

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
    process_finder=PROGRAM_MATCHER.find_agent,
    title_matcher=terminal_signals.matches_title,
    readers={
        "hook": hooks.read_hook,
        "title": terminal_signals.read_title,
        "notification": terminal_signals.read_notification,
    },
    transcript_readers={
        "hook": build_hook_transcript_reader(
            ("BeforeAgent", "user", "prompt"), ("AfterAgent", "assistant", "prompt_response")
        )
    },
    screen_classifier=screen.SCREEN_CLASSIFIER,
    package_names=("@google/gemini-cli",),
    session_resume=SESSION_RESUME,
    resumed_session_finder=PROGRAM_MATCHER.build_session_finder(SESSION_RESUME, "-r", "--resume"),
)

"""Gemini CLI, by Google.

It speaks in its title, which has a sign for each state and is there without any set-up, and in hooks. Both leave holes:
the title knows no kinds of ends and of questions, the hooks no refusal, and neither tells when a compression is over,
nor of dialogs that are no tool's: whether to trust the folder, how to go on at a usage limit, a menu. They are equals,
and the later word counts. Notifications come where they are switched on. Its session files name no process, and several
run in one folder, so they are not read.
"""

from termvisor.agents.adapters.adapter import TELLS
from termvisor.agents.adapters.composed_adapter import Composed
from termvisor.agents.adapters.gemini import process_match as recognise
from termvisor.agents.adapters.gemini import screen_rules as look
from termvisor.agents.adapters.gemini import signals
from termvisor.agents.adapters.transcript_text import of_hooks
from termvisor.model.agent.evidence_source import Source, guessed

ADAPTER = Composed(
    name="gemini",
    capabilities=frozenset({*TELLS, "recognise", "signals", "look", "usage_limit", "compaction", "auth", "resume"}),
    sources=(
        Source(
            name="title",
            tier="deterministic",
            rank=1,
            reads_stream=True,
            has_holes=True,
            blind_to=("error", "completed", "waiting_input"),
            blurs_ends=True,
            misses_dialogs=True,
        ),
        Source(name="hook", tier="deterministic", rank=1, has_holes=True, blurs_ends=True, misses_dialogs=True),
        guessed("screen", 10),
        guessed("process", 12),
        guessed("notification", 13),
    ),
    found=recognise.LAUNCH.found,
    is_title=signals.title_matches,
    readers={"hook": signals.read, "title": signals.title, "notification": signals.notification},
    speech={"hook": of_hooks(("BeforeAgent", "user", "prompt"), ("AfterAgent", "assistant", "prompt_response"))},
    sight=look.SIGHT,
    resume=recognise.RESUME,
    resumed=recognise.resumed_by,
)

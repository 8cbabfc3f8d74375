"""GitHub Copilot CLI.

It keeps a log of events for each session, without any set-up and without holes; a lock beside it names the process.
Its hooks say less, but sooner than the first prompt's log, and can answer for a person.
"""

from termvisor.agents.adapters.adapter import WELL_KNOWN
from termvisor.agents.adapters.composed_adapter import Composed
from termvisor.agents.adapters.copilot import events, hooks
from termvisor.agents.adapters.copilot import process_match as recognise
from termvisor.agents.adapters.copilot import screen_rules as look
from termvisor.agents.adapters.copilot import transcript_text as words
from termvisor.model.agent.evidence_source import LOOKS, told

ADAPTER = Composed(
    name="copilot",
    capabilities=WELL_KNOWN | {"native_approve"},
    sources=(told("session_file", 1), told("hook", 2, has_holes=True), *LOOKS),
    env_names=recognise.ENV_NAMES,
    found=recognise.LAUNCH.found,
    is_title=lambda title: title == "GitHub Copilot" or title.endswith(" - GitHub Copilot"),
    places=recognise.watches,
    readers={"session_file": events.read, "hook": hooks.read},
    speech={"session_file": words.words},
    sight=look.SIGHT,
    resume=recognise.RESUME,
    resumed=recognise.resumed_by,
)

"""Claude Code, by Anthropic.

It speaks in a registry file for each process (best, and without any set-up), in hooks, in its transcript, and by OSC
7501 where the terminal asked for it. Its screens are known as well, as an independent witness.
"""

from termvisor.agents.adapters.adapter import WELL_KNOWN
from termvisor.agents.adapters.claude_code import hooks as hook
from termvisor.agents.adapters.claude_code import log_locations as places
from termvisor.agents.adapters.claude_code import osc, registry, title, transcript
from termvisor.agents.adapters.claude_code import process_match as recognise
from termvisor.agents.adapters.claude_code import screen_rules as look
from termvisor.agents.adapters.claude_code import transcript_text as words
from termvisor.agents.adapters.composed_adapter import Composed
from termvisor.model.agent.evidence_source import LOOKS, OSC, Source, told

ADAPTER = Composed(
    name=recognise.AGENT,
    capabilities=WELL_KNOWN | {"native_approve"},
    sources=(
        told("registry", 2, blind_to=("error", "completed")),
        OSC,
        told("hook", 3, has_holes=True),
        Source(name="transcript", tier="deterministic", rank=4, has_holes=True, is_shared=True),
        Source(name=transcript.SUBAGENTS, tier="deterministic", rank=5, has_holes=True, is_shared=True),
        *LOOKS,
    ),
    env_names=places.ENV_NAMES,
    found=recognise.recognise,
    is_title=title.title_matches,
    places=places.watches,
    readers={
        "registry": registry.read,
        "osc": osc.read,
        "hook": hook.read,
        "transcript": transcript.read,
        transcript.SUBAGENTS: transcript.read_subagents,
        "title": title.read,
    },
    speech={"transcript": words.words},
    sight=look.SIGHT,
    resume=recognise.RESUME,
    resumed=recognise.resumed_by,
)

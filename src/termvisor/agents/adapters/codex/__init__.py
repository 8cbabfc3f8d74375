"""Codex: what is known of it, and where it speaks.

It prints its state into its own pane; a server that all of its panes share tells every change of every thread; hooks,
a notify program and the rollout file tell of threads only. See `threads` for how a thread's pane is proven.
"""

from termvisor.agents.adapters.adapter import WELL_KNOWN
from termvisor.agents.adapters.codex import exec_json as printed
from termvisor.agents.adapters.codex import hooks as hook
from termvisor.agents.adapters.codex import osc, rollout, title
from termvisor.agents.adapters.codex import process_match as recognise
from termvisor.agents.adapters.codex import screen_rules as look
from termvisor.agents.adapters.codex import server_messages as server
from termvisor.agents.adapters.composed_adapter import Composed
from termvisor.agents.adapters.transcript_text import of_hooks
from termvisor.model.agent.evidence_source import LOOKS, OSC, PRINTED, Source, told

ADAPTER = Composed(
    name=recognise.AGENT,
    capabilities=WELL_KNOWN | {"native_approve", "native_send"},
    sources=(
        told("app_server", 1, blind_to=("completed",)),
        OSC,
        Source(name="hook", tier="deterministic", rank=3, has_holes=True, is_shared=True),
        Source(name="notify", tier="deterministic", rank=3, has_holes=True, is_shared=True),
        Source(name="rollout", tier="deterministic", rank=4, has_holes=True, is_shared=True),
        PRINTED,
        *LOOKS,
    ),
    env_names=("HOME", "CODEX_HOME"),
    found=recognise.recognise,
    is_title=title.title_matches,
    places=rollout.watches,
    readers={
        "osc": osc.read,
        "app_server": server.read,
        "hook": hook.read,
        "notify": hook.read,
        "rollout": rollout.read,
        PRINTED.name: printed.read,
        "title": title.read,
    },
    speech={"hook": of_hooks(("UserPromptSubmit", "user", "prompt"), ("Stop", "assistant", "last_assistant_message"))},
    sight=look.SIGHT,
    resume=recognise.RESUME,
    resumed=recognise.resumed_by,
    printed=printed.prints,
)

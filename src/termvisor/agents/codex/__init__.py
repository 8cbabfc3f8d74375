"""Codex: what is known of it, and where it speaks.

It prints its state into its own pane; a server that all of its panes share tells every change of every thread; hooks,
a notify program and the rollout file tell of threads only. See `threads` for how a thread's pane is proven.
"""

from termvisor.agents.base import WELL_KNOWN
from termvisor.agents.codex import hook, look, osc, printed, recognise, rollout, server, title
from termvisor.agents.composed import Composed
from termvisor.agents.words import of_hooks
from termvisor.model.source import LOOKS, OSC, PRINTED, Source, told

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

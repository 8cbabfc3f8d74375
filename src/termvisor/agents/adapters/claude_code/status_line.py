"""What Claude Code gives to the command of its status line: model, cost and context, after every message.

It comes as one more event of the hooks' spool, `StatusLine`, where a person has set that up. It tells nothing of the
state.
"""

from termvisor.agents.adapters.json_access import inside, number, text
from termvisor.agents.adapters.statements import Hook, Said, payload

EVENT = "StatusLine"


def read(hook: Hook) -> list[Said]:
    told = hook.payload
    window, cost = inside(told, "context_window"), inside(told, "cost").get("total_cost_usd")
    share = window.get("used_percentage")
    used = min(1.0, max(0.0, share / 100)) if isinstance(share, int | float) else None
    about = payload(
        model=text(inside(told, "model"), "id"),
        version=text(told, "version"),
        cost_so_far=float(cost) if isinstance(cost, int | float) and cost > 0 else None,
        context_used=used,
        context_size=None if used is None else number(window, "context_window_size"),
    )
    return [Said(kind="note", session=text(told, "session_id"), at=hook.at, payload=about)] if about else []

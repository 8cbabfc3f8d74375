"""What Claude Code gives to the command of its status line: model, cost and context, after every message.

It comes as one more event of the hooks' spool, `StatusLine`, where a person has set that up. It tells nothing of the
state.
"""

from termvisor.agents.adapters.json_access import get_int, get_object, get_str
from termvisor.agents.adapters.statements import AgentStatement, HookEvent, build_payload

STATUS_LINE_EVENT = "StatusLine"


def read_status_line(hook: HookEvent) -> list[AgentStatement]:
    told = hook.payload
    window, cost = get_object(told, "context_window"), get_object(told, "cost").get("total_cost_usd")
    share = window.get("used_percentage")
    used = min(1.0, max(0.0, share / 100)) if isinstance(share, int | float) else None
    about = build_payload(
        model=get_str(get_object(told, "model"), "id"),
        version=get_str(told, "version"),
        cost_so_far=float(cost) if isinstance(cost, int | float) and cost > 0 else None,
        context_used=used,
        context_size=None if used is None else get_int(window, "context_window_size"),
    )
    return (
        [AgentStatement(kind="note", session=get_str(told, "session_id"), at=hook.at, payload=about)] if about else []
    )

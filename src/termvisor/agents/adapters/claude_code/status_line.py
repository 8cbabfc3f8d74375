"""Read the input of Claude Code's status line command: model, cost and context usage after every message.

If the user has set it up, it arrives in the hook spool as the event `StatusLine`. It does not contain the state.
"""

from termvisor.agents.adapters.json_access import get_int, get_object, get_str
from termvisor.agents.adapters.statements import AgentStatement, HookEvent, build_payload

STATUS_LINE_EVENT = "StatusLine"


def read_status_line(hook: HookEvent) -> list[AgentStatement]:
    """Return the model, version, cost and context usage as a note; nothing if the event has none of them."""
    fields = hook.payload
    window, cost = get_object(fields, "context_window"), get_object(fields, "cost").get("total_cost_usd")
    percent = window.get("used_percentage")
    used = min(1.0, max(0.0, percent / 100)) if isinstance(percent, int | float) else None
    payload = build_payload(
        model=get_str(get_object(fields, "model"), "id"),
        version=get_str(fields, "version"),
        cost_so_far=float(cost) if isinstance(cost, int | float) and cost > 0 else None,
        context_used=used,
        context_size=None if used is None else get_int(window, "context_window_size"),
    )
    if not payload:
        return []
    return [AgentStatement(kind="note", session=get_str(fields, "session_id"), at=hook.at, payload=payload)]

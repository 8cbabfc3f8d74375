"""How to speak to Codex: as values, for the gate to carry out.

By its app-server, where the thread is proven: an answer to a request that waits, a turn, an interruption. By keys only
as a last resort, and only while the screen shows exactly what the keys are for. Never a bare Enter: after a usage
limit a dialog is open whose first choice switches the model.
"""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import Seen
from termvisor.agents.adapters.codex.screen_regions import layout_of
from termvisor.agents.adapters.codex.screen_rules import look
from termvisor.agents.adapters.dialog_options import Decision, Press, choices, leaving, way_to
from termvisor.agents.adapters.json_access import Json, text
from termvisor.model.terminal.screen import Screen

APPROVALS = (
    "item/commandExecution/requestApproval",
    "item/fileChange/requestApproval",
    "item/permissions/requestApproval",
)


class Ask(Struct, frozen=True):
    """A request to the app-server."""

    method: str
    params: dict[str, object]


class Reply(Struct, frozen=True):
    """The answer to a request that the app-server sent to everybody who follows the thread."""

    request: int | str
    result: dict[str, object]


def follow(thread: str) -> Ask:
    """Requests that wait already are told anew to whoever begins to follow."""
    return Ask("thread/resume", {"threadId": thread, "excludeTurns": True})


def unfollow(thread: str) -> Ask:
    return Ask("thread/unsubscribe", {"threadId": thread})


def prompt(thread: str, words: str) -> Ask:
    return Ask("turn/start", {"threadId": thread, "input": [{"type": "text", "text": words}]})


def stop_turn(thread: str, turn: str) -> Ask:
    return Ask("turn/interrupt", {"threadId": thread, "turnId": turn})


def last_turn(thread: str) -> Ask:
    """What it is at, or was at last."""
    wanted = {"threadId": thread, "limit": 1, "sortDirection": "desc", "itemsView": "summary"}
    return Ask("thread/turns/list", wanted)


def approve(request: Json) -> Reply | None:
    """This once. None for a request that is no approval, or does not offer it."""
    return _decision(request, ("accept",))


def deny(request: Json) -> Reply | None:
    """As a person does it at the pane, who then says what to do instead: the turn ends, where that is offered."""
    return _decision(request, ("cancel", "decline"))


def _decision(request: Json, wanted: Sequence[str]) -> Reply | None:
    number, params = request.get("id"), request.get("params")
    if text(request, "method") not in APPROVALS or not isinstance(number, int | str) or not isinstance(params, dict):
        return None
    offered = params.get("availableDecisions")
    allowed = [one for one in wanted if not isinstance(offered, list) or one in offered]
    return Reply(number, {"decision": allowed[0]}) if allowed else None


def hook_answer(decision: Decision, message: str = "") -> str:
    """What its `PermissionRequest` hook prints; to print nothing leaves it to the dialog, which then appears."""
    told = {"behavior": decision} | ({"message": message} if decision == "deny" and message else {})
    answer = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": told}}
    return msgspec.json.encode(answer).decode()


def answer(screen: Screen, decision: Decision) -> Press | None:
    return approve_keys(screen) if decision == "allow" else deny_keys(screen)


def choose(screen: Screen, label: str) -> Press | None:
    seen, rows = look(screen), layout_of(screen.rows).dialog
    is_asked = seen.state.startswith("waiting_") or seen.name == "limit_dialog"
    keys = way_to(label, choices(rows)) if is_asked else None
    return Press(keys=keys, rule=seen.rule, rows=rows) if keys else None


def leave(screen: Screen) -> Press | None:
    """One key ends it at once; what a shared server does for it goes on."""
    return leaving(look(screen), composer(screen), ("C-c",))


def composer(screen: Screen) -> str | None:
    written = layout_of(screen.rows).composer
    return "" if written == _INVITATION else written


def approve_keys(screen: Screen) -> Press | None:
    """Its own letter for yes; never Enter, which takes whatever is marked."""
    return _keys(screen, "Yes, proceed (y)", "y")


def deny_keys(screen: Screen) -> Press | None:
    return _keys(screen, "No, and tell Codex what to do differently (esc)", "Escape")


def interrupt(screen: Screen) -> Press | None:
    """Only while a line shows work: at rest the same key goes back in the conversation."""
    seen = look(screen)
    is_at_work = bool(layout_of(screen.rows).work)
    return Press(keys=("Escape",), rule=seen.rule, rows=("esc to interrupt",)) if is_at_work else None


_INVITATION = "Ask Codex to do anything"


def _keys(screen: Screen, choice: str, key: str) -> Press | None:
    seen: Seen = look(screen)
    rows = layout_of(screen.rows).dialog
    is_offered = seen.name == "approval_asked" and choice in " ".join(" ".join(rows).split())
    return Press(keys=(key,), rule=seen.rule, rows=rows) if is_offered else None

"""How to speak to Codex: as values, for the gate to carry out.

By its app-server, where the thread is proven: an answer to a request that waits, a turn, an interruption. By keys only
as a last resort, and only while the screen shows exactly what the keys are for. Never a bare Enter: after a usage
limit a dialog is open whose first choice switches the model.
"""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.agents.adapters.codex.screen_regions import parse_layout
from termvisor.agents.adapters.codex.screen_rules import classify_screen
from termvisor.agents.adapters.dialog_options import (
    Decision,
    KeyPress,
    build_exit_press,
    find_keys_to_option,
    parse_numbered_options,
)
from termvisor.agents.adapters.json_access import JsonObject, get_str
from termvisor.model.terminal.screen import Screen

APPROVAL_METHODS = (
    "item/commandExecution/requestApproval",
    "item/fileChange/requestApproval",
    "item/permissions/requestApproval",
)


class CodexRequest(Struct, frozen=True):
    """A request to the app-server."""

    method: str
    params: dict[str, object]


class CodexReply(Struct, frozen=True):
    """The answer to a request that the app-server sent to everybody who follows the thread."""

    request_id: int | str
    result: dict[str, object]


def build_follow_request(thread: str) -> CodexRequest:
    """Requests that wait already are told anew to whoever begins to follow."""
    return CodexRequest("thread/resume", {"threadId": thread, "excludeTurns": True})


def build_unfollow_request(thread: str) -> CodexRequest:
    return CodexRequest("thread/unsubscribe", {"threadId": thread})


def build_prompt_request(thread: str, prompt_text: str) -> CodexRequest:
    return CodexRequest("turn/start", {"threadId": thread, "input": [{"type": "text", "text": prompt_text}]})


def build_stop_request(thread: str, turn: str) -> CodexRequest:
    return CodexRequest("turn/interrupt", {"threadId": thread, "turnId": turn})


def build_last_turn_request(thread: str) -> CodexRequest:
    """What it is at, or was at last."""
    wanted = {"threadId": thread, "limit": 1, "sortDirection": "desc", "itemsView": "summary"}
    return CodexRequest("thread/turns/list", wanted)


def build_approval_reply(request: JsonObject) -> CodexReply | None:
    """This once. None for a request that is no approval, or does not offer it."""
    return _build_decision_reply(request, ("accept",))


def build_denial_reply(request: JsonObject) -> CodexReply | None:
    """As a person does it at the pane, who then says what to do instead: the turn ends, where that is offered."""
    return _build_decision_reply(request, ("cancel", "decline"))


def _build_decision_reply(request: JsonObject, decisions: Sequence[str]) -> CodexReply | None:
    number, params = request.get("id"), request.get("params")
    if (
        get_str(request, "method") not in APPROVAL_METHODS
        or not isinstance(number, int | str)
        or not isinstance(params, dict)
    ):
        return None
    offered = params.get("availableDecisions")
    allowed = [one for one in decisions if not isinstance(offered, list) or one in offered]
    return CodexReply(number, {"decision": allowed[0]}) if allowed else None


def format_hook_answer(decision: Decision, message: str = "") -> str:
    """What its `PermissionRequest` hook prints; to print nothing leaves it to the dialog, which then appears."""
    told = {"behavior": decision} | ({"message": message} if decision == "deny" and message else {})
    answer = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": told}}
    return msgspec.json.encode(answer).decode()


def find_answer_keys(screen: Screen, decision: Decision) -> KeyPress | None:
    return find_approve_keys(screen) if decision == "allow" else find_deny_keys(screen)


def find_option_keys(screen: Screen, label: str) -> KeyPress | None:
    seen, rows = classify_screen(screen), parse_layout(screen.rows).dialog
    is_asked = seen.state.startswith("waiting_") or seen.rule_name == "limit_dialog"
    keys = find_keys_to_option(label, parse_numbered_options(rows)) if is_asked else None
    return KeyPress(keys=keys, rule=seen.rule, rows=rows) if keys else None


def find_exit_keys(screen: Screen) -> KeyPress | None:
    """One key ends it at once; what a shared server does for it goes on."""
    return build_exit_press(classify_screen(screen), read_composer(screen), ("C-c",))


def read_composer(screen: Screen) -> str | None:
    written = parse_layout(screen.rows).composer
    return "" if written == _COMPOSER_PLACEHOLDER else written


def find_approve_keys(screen: Screen) -> KeyPress | None:
    """Its own letter for yes; never Enter, which takes whatever is marked."""
    return _build_dialog_press(screen, "Yes, proceed (y)", "y")


def find_deny_keys(screen: Screen) -> KeyPress | None:
    return _build_dialog_press(screen, "No, and tell Codex what to do differently (esc)", "Escape")


def find_interrupt_keys(screen: Screen) -> KeyPress | None:
    """Only while a line shows work: at rest the same key goes back in the conversation."""
    seen = classify_screen(screen)
    is_at_work = bool(parse_layout(screen.rows).work)
    return KeyPress(keys=("Escape",), rule=seen.rule, rows=("esc to interrupt",)) if is_at_work else None


_COMPOSER_PLACEHOLDER = "Ask Codex to do anything"


def _build_dialog_press(screen: Screen, choice: str, key: str) -> KeyPress | None:
    seen: ScreenReading = classify_screen(screen)
    rows = parse_layout(screen.rows).dialog
    is_offered = seen.rule_name == "approval_asked" and choice in " ".join(" ".join(rows).split())
    return KeyPress(keys=(key,), rule=seen.rule, rows=rows) if is_offered else None

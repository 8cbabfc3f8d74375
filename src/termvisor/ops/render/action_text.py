"""An action in words, from its recorded fields. Redacted and clean: what it says may be shown to anybody."""

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile
from typing import Any

import msgspec

from termvisor.model.action.action import Action, Actor, kind_of
from termvisor.ops.render.text import clean, shorten
from termvisor.redaction import redact

Fields = Mapping[str, Any]
_LONGEST = 400
"""Columns of one text that are told; the rest is in the record."""
_CHOICE = re.compile(r"[\s│┃]*(?:[❯›●○]\s|\d{1,2}[.)]\s)")
"""A row of a dialog that can be picked."""


def described(kind: str, fields: Fields) -> str:
    """What would be done, or was."""
    word = _WORDS.get(kind)
    try:
        told = word(fields) if word else f"{kind} {_json(fields)}"
    except (KeyError, TypeError):
        told = f"{kind} {_json(fields)}"
    return shorten(clean(redact(told)), _LONGEST)


def action_in_words(action: Action) -> str:
    return described(kind_of(action), msgspec.to_builtins(action))


def who(actor: Actor) -> str:
    """``human 1000``, ``robot 1000 (builder) in pane 4``."""
    name = f" ({actor.name})" if actor.name else ""
    place = f" in pane {actor.pane}" if actor.pane is not None else ""
    return clean(redact(f"{actor.kind} {actor.uid}{name}{place}"))


def masked(value: Any) -> Any:
    """The same value with every text in it redacted."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list | tuple):
        return [masked(one) for one in value]
    if isinstance(value, Mapping):
        return {redact(str(name)): masked(one) for name, one in value.items()}
    return value


def _text(fields: Fields) -> str:
    end = "press Enter" if fields.get("enter", True) else "do not press Enter"
    return f"type {fields['text']!r} and {end}"


def _spawn(fields: Fields) -> str:
    command = " ".join(fields.get("command") or ()) or "a shell"
    where = {"pane": f"beside pane {fields.get('beside')}"}.get(fields["where"], f"in a new {fields['where']}")
    folder = f" (in {fields['cwd']})" if fields.get("cwd") else ""
    account = f" under the account {fields['account']}" if fields.get("account") else ""
    return f"start {command} {where}{folder}{account}"


def _kill(fields: Fields) -> str:
    if fields.get("closes_pane"):
        return "close the pane and end everything in it"
    return f"send SIG{fields.get('signal', 'INT')} to the program in its foreground"


def _plea(fields: Fields) -> str:
    """What the agent asks for, as it would be done."""
    if fields.get("command"):
        return f"let {fields['agent']} run {fields['command']!r} ({fields['tool']})"
    if fields["tool"] == "dialog":
        rows = _given(fields)["dialog"].splitlines()
        asked = list(takewhile(lambda row: not _CHOICE.match(row), rows))
        return f"say yes to the dialog of {fields['agent']}: {_rows(asked) or _rows(rows)}"
    about = ", ".join(fields.get("writes") or ()) or fields.get("given", "")
    return f"let {fields['agent']} use {fields['tool']}: {about}".rstrip(": ")


def _dialog(fields: Fields) -> str:
    rows = _rows(fields.get("rows") or ())
    return f"answer {fields['choice']!r} to the dialog of {fields['agent']}: {rows}".removesuffix(": ")


def _given(fields: Fields) -> dict[str, str]:
    try:
        return msgspec.json.decode(fields["given"], type=dict[str, str])
    except msgspec.MsgspecError as error:
        raise TypeError("no dialog") from error


def _rows(rows: Iterable[str]) -> str:
    """Those with words in them, without frames and rules."""
    return " / ".join(row.strip(" │┃") for row in rows if any(map(str.isalnum, row)))


_WORDS: dict[str, Callable[[Fields], str]] = {
    "send_text": _text,
    "send_keys": lambda fields: f"press {' '.join(fields['keys'])}",
    "spawn": _spawn,
    "kill": _kill,
    "activate": lambda _fields: "make it the pane that people see",
    "attach": lambda _fields: "show it to the person at this terminal",
    "set_title": lambda fields: f"set its title to {fields['title']!r}",
    "reserve": lambda fields: f"reserve it for {fields['owner']}, {fields['seconds']:g} seconds",
    "release": lambda fields: f"end its reservation {fields['reservation']}",
    "write_file": lambda fields: f"write {fields['path']}",
    "run_program": lambda fields: f"run {' '.join(fields['argv'])}",
    "answer_agent": _plea,
    "answer_dialog": _dialog,
    "interrupt": lambda fields: f"interrupt {fields['agent']}",
    "quit_agent": lambda fields: f"have {fields['agent']} leave",
    "ask_person": lambda fields: f"{fields['question']} ({' / '.join(fields['choices'])}; {fields['how']})",
    "run_workflow": lambda fields: f"start the workflow {fields['workflow']}",
    "notify": lambda fields: f"tell a person by {fields.get('way', 'terminal')}: {fields['title']}",
}


def _json(fields: Fields) -> str:
    return msgspec.json.encode(fields).decode()

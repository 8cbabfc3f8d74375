"""Describe actions in one line, from their logged fields. Descriptions are redacted and sanitized."""

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile
from typing import Any

import msgspec

from termvisor.model.action.action import Action, Actor, get_action_kind
from termvisor.ops.render.text import sanitize, shorten
from termvisor.redaction import redact
from termvisor.system.users import find_user_name

ActionFields = Mapping[str, Any]
# Maximum columns of a description; the full text is in the audit log.
_MAX_TEXT_WIDTH = 400
# Matches a dialog row that is a choice.
_CHOICE_ROW = re.compile(r"[\s│┃]*(?:[❯›●○]\s|\d{1,2}[.)]\s)")


# Voters and owners are joined by colons.
_FORMATTED_ACTOR = re.compile(
    r"(?P<kind>[a-z]+)[ :](?P<uid>\d+)(?:(?: \(|:)(?P<name>.*?)\)?)?(?P<place> in pane \d+)?", re.DOTALL
)


def describe_action_fields(kind: str, fields: ActionFields) -> str:
    """Describe an action from its kind and logged fields."""
    fallback = f"{kind} {msgspec.json.encode(fields).decode()}"
    describe = _DESCRIBERS_BY_KIND.get(kind)
    try:
        text = describe(fields) if describe else fallback
    except (KeyError, TypeError):  # the entry was logged by another version, with other fields
        text = fallback
    # Redacted before it is shortened, because part of a secret would not be recognized.
    return shorten(sanitize(redact(text)), _MAX_TEXT_WIDTH)


def describe_action(action: Action) -> str:
    return describe_action_fields(get_action_kind(action), msgspec.to_builtins(action))


def format_actor(actor: Actor) -> str:
    """Format as ``human 1000`` or ``robot 1000 (builder) in pane 4``."""
    name = f" ({actor.name})" if actor.name else ""
    place = f" in pane {actor.pane}" if actor.pane is not None else ""
    return sanitize(redact(f"{actor.kind} {actor.uid}{name}{place}"))


def describe_caller(by: str) -> str:
    """Describe for a person what `format_actor` returned: `ann`, `robot builder`, `agent codex in pane 7`.

    Programs keep their kind in front, because they may call themselves like a person.
    """
    match = _FORMATTED_ACTOR.fullmatch(by)
    if match is None:
        return by
    kind, uid, name, place = match["kind"], int(match["uid"]), match["name"], match["place"] or ""
    if kind == "human":
        return sanitize(find_user_name(uid)) + place
    return f"{kind} {name or f'of {sanitize(find_user_name(uid))}'}{place}"


def _describe_send_text(fields: ActionFields) -> str:
    end = "press Enter" if fields.get("enter", True) else "do not press Enter"
    place = " at the prompt that the caller sees" if fields.get("at_prompt") else ""
    return f"type {fields['text']!r} and {end}{place}"


def _describe_spawn(fields: ActionFields) -> str:
    command = " ".join(fields.get("command") or ()) or "a shell"
    where = {"pane": f"beside pane {fields.get('beside')}"}.get(fields["where"], f"in a new {fields['where']}")
    folder = f" (in {fields['cwd']})" if fields.get("cwd") else ""
    account = f" under the account {fields['account']}" if fields.get("account") else ""
    return f"start {command} {where}{folder}{account}"


def _describe_run_job(fields: ActionFields) -> str:
    places = {"pty": "in a terminal of its own", "tmux": "on the private tmux server"}
    where = places.get(fields.get("place", "pty"), f"in a window of the session {fields.get('session')!r}")
    folder = f" (in {fields['cwd']})" if fields.get("cwd") else ""
    return f"run {' '.join(fields['command'])} {where}{folder}"


def _describe_job_input(fields: ActionFields) -> str:
    end = "press Enter" if fields.get("enter", True) else "do not press Enter"
    what = "a secret" if fields.get("secret") else repr(fields.get("text", ""))
    return f"type {what} into job {fields['job']} and {end}"


def _describe_kill(fields: ActionFields) -> str:
    if fields.get("closes_pane"):
        return "close the pane and all its processes"
    return f"send SIG{fields.get('signal', 'INT')} to the foreground program"


def _describe_answer_agent(fields: ActionFields) -> str:
    if fields.get("command"):
        return f"let {fields['agent']} run {fields['command']!r} ({fields['tool']})"
    if fields["tool"] == "dialog":
        rows = _parse_dialog_payload(fields)["dialog"].splitlines()
        question = list(takewhile(lambda row: not _CHOICE_ROW.match(row), rows))
        return f"accept the dialog of {fields['agent']}: {_join_text_rows(question) or _join_text_rows(rows)}"
    subject = ", ".join(fields.get("writes") or ()) or fields.get("given", "")
    return f"let {fields['agent']} use {fields['tool']}: {subject}".rstrip(": ")


def _describe_answer_dialog(fields: ActionFields) -> str:
    rows = _join_text_rows(fields.get("rows") or ())
    return f"answer {fields['choice']!r} to the dialog of {fields['agent']}: {rows}".removesuffix(": ")


def _parse_dialog_payload(fields: ActionFields) -> dict[str, str]:
    try:
        return msgspec.json.decode(fields["given"], type=dict[str, str])
    # The caller falls back to the raw fields, as for every entry of another version.
    except msgspec.MsgspecError as error:
        raise TypeError("no dialog") from error


def _join_text_rows(rows: Iterable[str]) -> str:
    """Join the rows that contain text, without box-drawing frames."""
    return " / ".join(row.strip(" │┃") for row in rows if any(map(str.isalnum, row)))


def _describe_write_config(fields: ActionFields) -> str:
    name, value = fields.get("name", ""), fields.get("value", "")
    texts = {
        "set": f"set {name} = {value!r} in the settings",
        "unset": f"remove {name} from the settings",
        "init": "write a new settings file",
        "reload": "apply changed settings and rules",
        "mute": f"mute {name}{f' {value}' if value else ''}",
        "rule": f"write the rule {name} to the pack {value}",
        "workflow": f"write the workflow {name}",
        "revoke": f"revoke permit {name}",
        "account": f"attribute usage to the account {name}",
    }
    return texts.get(fields["change"], f"{fields['change']} {name}".rstrip())


def _describe_update_records(fields: ActionFields) -> str:
    name, value = fields.get("name", ""), fields.get("value", "")
    texts = {
        "vacuum": "compact the database",
        "reindex": "rebuild the search index",
        "acknowledge": f"mark as handled: {name}",
        "signal": f"send {value!r} to workflow run {name}",
        "detach": f"stop tracking {name}",
    }
    return texts.get(fields["change"], f"{fields['change']} workflow run {name}")


_DESCRIBERS_BY_KIND: dict[str, Callable[[ActionFields], str]] = {
    "send_text": _describe_send_text,
    "send_keys": lambda fields: f"press {' '.join(fields['keys'])}",
    "spawn": _describe_spawn,
    "run_job": _describe_run_job,
    "stop_job": lambda fields: f"stop job {fields['job']}",
    "send_job_input": _describe_job_input,
    "kill": _describe_kill,
    "activate": lambda _fields: "make it the active pane",
    "attach": lambda _fields: "attach this terminal to it",
    "set_title": lambda fields: f"set its title to {fields['title']!r}",
    "reserve": lambda fields: f"reserve it for {fields['owner']} for {fields['seconds']:g} s",
    "release": lambda fields: f"release its reservation {fields['reservation']}",
    "write_file": lambda fields: f"write {fields['path']}" + (f" ({fields['why']})" if fields.get("why") else ""),
    "write_config": _describe_write_config,
    "prune_data": lambda _fields: "delete recorded data that retention no longer keeps",
    "restore_data": lambda fields: f"replace the database with {fields['file']}",
    "update_records": _describe_update_records,
    "export_unredacted": lambda fields: f"export pane {fields['reference']} with the secrets in it",
    "run_program": lambda fields: f"run {' '.join(fields['argv'])}",
    "answer_agent": _describe_answer_agent,
    "answer_dialog": _describe_answer_dialog,
    "interrupt": lambda fields: f"interrupt {fields['agent']}",
    "quit_agent": lambda fields: f"quit {fields['agent']}",
    "ask_person": lambda fields: f"{fields['question']} ({' / '.join(fields['choices'])}; {fields['how']})",
    "run_workflow": lambda fields: f"start the workflow {fields['workflow']}",
    "notify": lambda fields: f"notify by {fields.get('way', 'terminal')}: {fields['title']}",
}

"""Every op by name, found without importing any other: one call loads one op.

The tables repeat what the op files declare; a test compares them.
"""

from collections.abc import Sequence
from importlib import import_module

from termvisor.errors import UnknownCommand
from termvisor.model.did_you_mean import find_close_matches
from termvisor.ops.api.global_options import split_global_options
from termvisor.ops.api.operation import CLI_ONLY_COMMANDS, COMMAND_GROUPS, Operation

HELP_CHAPTERS: dict[str, tuple[str, ...]] = {
    "what agents and panes do": (
        "list_panes",
        "list_windows",
        "list_sessions",
        "status",
        "next",
        "explain",
        "watch",
        "agents_list",
        "agents_sessions",
        "list_sources",
        "tmux_status",
    ),
    "what was printed": (
        "get_text",
        "get_screen",
        "search_history",
        "wait_for",
        "list_commands",
        "list_gaps",
        "export",
        "replay",
    ),
    "what happened": (
        "list_events",
        "watch_events",
        "report_event",
        "explain_event",
        "events_ack",
        "events_mute",
        "events_mutes",
        "events_unmute",
    ),
    "act": (
        "send_text",
        "send_keys",
        "answer_dialog",
        "interrupt",
        "quit_agent",
        "resume_session",
        "revive",
        "spawn",
        "split",
        "kill",
        "activate",
        "attach",
        "set_title",
        "notify",
        "undo",
        "reserve",
        "release",
        "list_reservations",
    ),
    "approve and prove": (
        "inbox",
        "approve",
        "deny",
        "list_permits",
        "revoke_permit",
        "audit",
        "audit_verify",
        "audit_export",
        "policy_show",
        "policy_explain",
        "policy_test",
    ),
    "react": (
        "rules_list",
        "rules_show",
        "rules_test",
        "rules_lint",
        "rules_new",
        "workflow_list",
        "workflow_show",
        "workflow_run",
        "workflow_dry_run",
        "workflow_status",
        "workflow_history",
        "workflow_signal",
        "workflow_pause",
        "workflow_resume",
        "workflow_cancel",
        "accounts_list",
        "accounts_show",
        "accounts_pick",
        "accounts_use",
        "accounts_refresh",
    ),
    "set up and keep well": (
        "setup_shell",
        "setup_tmux",
        "setup_agents",
        "hook_permission",
        "config_init",
        "config_show",
        "config_set",
        "config_unset",
        "config_reload",
        "config_validate",
        "config_path",
        "health",
        "doctor",
        "logs",
        "db_status",
        "db_prune",
        "db_vacuum",
        "db_reindex",
        "db_check",
        "db_backup",
        "db_restore",
    ),
    "find your way": (
        "completion",
        "version",
        "quick_start",
        "help",
    ),
}
"""As help and the reference show them."""
OPERATION_NAMES = tuple(name for names in HELP_CHAPTERS.values() for name in names)

COMMAND_ALIASES = {
    "panes": "list_panes",
    "windows": "list_windows",
    "sessions": "list_sessions",
    "agents": "agents_list",
    "accounts": "accounts_list",
    "rules": "rules_list",
    "workflow": "workflow_list",
    "workflows": "workflow_list",
    "sources": "list_sources",
    "text": "get_text",
    "view-output": "get_text",
    "screen": "get_screen",
    "search": "search_history",
    "query": "search_history",
    "wait": "wait_for",
    "commands": "list_commands",
    "events": "list_events",
    "event": "report_event",
    "send": "send_text",
    "answer": "answer_dialog",
    "quit": "quit_agent",
    "resume": "resume_session",
    "reservations": "list_reservations",
    "permits": "list_permits",
    "gaps": "list_gaps",
    "--version": "version",
    "-V": "version",
}
OPERATIONS_BY_ROBOT_NAME = {
    "state": "list_panes",
    "status": "status",
    "next": "next",
    "explain": "explain",
    "watch": "watch",
    "get-text": "get_text",
    "get-screen": "get_screen",
    "search": "search_history",
    "wait-for": "wait_for",
    "commands": "list_commands",
    "events": "list_events",
    "event": "report_event",
    "send": "send_text",
    "send-keys": "send_keys",
    "answer": "answer_dialog",
    "interrupt": "interrupt",
    "quit": "quit_agent",
    "resume": "resume_session",
    "revive": "revive",
    "spawn": "spawn",
    "split": "split",
    "kill": "kill",
    "undo": "undo",
    "notify": "notify",
    "reserve": "reserve",
    "release": "release",
    "inbox": "inbox",
    "approve": "approve",
    "deny": "deny",
    "audit": "audit",
    "gaps": "list_gaps",
    "export": "export",
    "replay": "replay",
    "health": "health",
    "quick-start": "quick_start",
}
STREAM_OPERATIONS = ("watch", "export", "replay", "watch_events", "audit_export", "db_prune", "db_vacuum", "db_reindex")
"""Those that answer with many Outputs, in the order of their names above."""


def load_operation(name: str) -> Operation:
    """The op of this exact name."""
    found: Operation = import_module(f"termvisor.ops.{TOPIC_BY_OPERATION[name]}.{name}").OP
    return found


def load_by_any_name(word: str) -> Operation:
    """The op behind any of its names."""
    name = _resolve_name(word, is_robot=True)
    if name is None:
        raise _build_unknown_command_error(word, is_robot=True)
    return load_operation(name)


def find_chapter(name: str) -> str:
    """Where help shows the op of this exact name."""
    return next(title for title, names in HELP_CHAPTERS.items() if name in names)


def load_all_operations() -> list[Operation]:
    return [load_operation(name) for name in OPERATION_NAMES]


def find_operation(argv: Sequence[str], is_robot: bool) -> tuple[Operation, list[str]]:
    """The op that a command line means, and the words that belong to it."""
    _, words = split_global_options(argv)
    if not words:
        return load_operation("quick_start"), []
    together = _resolve_name(f"{words[0]}_{words[1]}", is_robot) if len(words) > 1 else None
    if together and words[0] in COMMAND_GROUPS:
        return load_operation(together), words[2:]
    if name := _resolve_name(words[0], is_robot):
        is_of_event = name == "explain" and any(word.startswith("event:") for word in words[1:])
        return load_operation("explain_event" if is_of_event else name), words[1:]
    if together:
        return load_operation(together), words[2:]
    raise _build_unknown_command_error(words[0], is_robot)


def _resolve_name(word: str, is_robot: bool) -> str | None:
    """The op's name behind a spoken one: long with - or _, alias, or a robot's short name."""
    plain = word.replace("-", "_")
    if plain in OPERATION_NAMES:
        return plain
    return (OPERATIONS_BY_ROBOT_NAME.get(word) if is_robot else None) or COMMAND_ALIASES.get(word)


def _build_unknown_command_error(word: str, is_robot: bool) -> UnknownCommand:
    if word in COMMAND_GROUPS:
        rest = [
            name.removeprefix(f"{word}_").replace("_", "-") for name in OPERATION_NAMES if name.startswith(f"{word}_")
        ]
        return UnknownCommand(
            f"`{word}` needs one more word: {', '.join(rest)}", hint=f"For example `visor {word} {rest[0]}`."
        )
    known = [name.replace("_", "-") for name in OPERATION_NAMES] + list(
        OPERATIONS_BY_ROBOT_NAME if is_robot else (*COMMAND_ALIASES, *dict(CLI_ONLY_COMMANDS))
    )
    near = find_close_matches(word, known)
    hint = f"Did you mean {' or '.join(near)}?" if near else "`visor help` lists the commands."
    return UnknownCommand(f"there is no command {word!r}", hint=hint, details={"nearest": near})


TOPIC_BY_OPERATION = {
    "accounts_list": "accounts",
    "accounts_pick": "accounts",
    "accounts_refresh": "accounts",
    "accounts_show": "accounts",
    "accounts_use": "accounts",
    "activate": "panes",
    "agents_list": "agents",
    "agents_sessions": "agents",
    "answer_dialog": "input",
    "approve": "approvals",
    "attach": "panes",
    "audit": "audit",
    "audit_export": "audit",
    "audit_verify": "audit",
    "completion": "setup",
    "config_init": "config",
    "config_path": "config",
    "config_reload": "config",
    "config_set": "config",
    "config_show": "config",
    "config_unset": "config",
    "config_validate": "config",
    "db_backup": "database",
    "db_check": "database",
    "db_prune": "database",
    "db_reindex": "database",
    "db_restore": "database",
    "db_status": "database",
    "db_vacuum": "database",
    "deny": "approvals",
    "doctor": "system",
    "events_ack": "events",
    "events_mute": "events",
    "events_mutes": "events",
    "events_unmute": "events",
    "explain": "agents",
    "explain_event": "events",
    "export": "history",
    "get_screen": "panes",
    "get_text": "panes",
    "health": "system",
    "help": "system",
    "hook_permission": "approvals",
    "inbox": "approvals",
    "interrupt": "input",
    "kill": "panes",
    "list_commands": "history",
    "list_events": "events",
    "list_gaps": "panes",
    "list_panes": "panes",
    "list_permits": "approvals",
    "list_reservations": "panes",
    "list_sessions": "panes",
    "list_sources": "agents",
    "list_windows": "panes",
    "logs": "system",
    "next": "agents",
    "notify": "events",
    "policy_explain": "policy",
    "policy_show": "policy",
    "policy_test": "policy",
    "quick_start": "system",
    "quit_agent": "input",
    "release": "panes",
    "replay": "history",
    "report_event": "events",
    "reserve": "panes",
    "resume_session": "agents",
    "revive": "agents",
    "revoke_permit": "approvals",
    "rules_lint": "rules",
    "rules_list": "rules",
    "rules_new": "rules",
    "rules_show": "rules",
    "rules_test": "rules",
    "search_history": "history",
    "send_keys": "input",
    "send_text": "input",
    "set_title": "panes",
    "setup_agents": "setup",
    "setup_shell": "setup",
    "setup_tmux": "setup",
    "spawn": "panes",
    "split": "panes",
    "status": "agents",
    "tmux_status": "agents",
    "undo": "audit",
    "version": "system",
    "wait_for": "panes",
    "watch": "agents",
    "watch_events": "events",
    "workflow_cancel": "workflows",
    "workflow_dry_run": "workflows",
    "workflow_history": "workflows",
    "workflow_list": "workflows",
    "workflow_pause": "workflows",
    "workflow_resume": "workflows",
    "workflow_run": "workflows",
    "workflow_show": "workflows",
    "workflow_signal": "workflows",
    "workflow_status": "workflows",
}
"""The folder of each op."""

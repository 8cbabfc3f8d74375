"""Map command names to operations and import an operation's module only when it is called.

The tables repeat what the operation modules declare, because importing all of them for one command would be slow;
a test compares both.
"""

import re
from collections.abc import Sequence
from importlib import import_module

from termvisor.errors import UnknownCommand
from termvisor.model.did_you_mean import find_close_matches
from termvisor.ops.api.arguments import split_global_options
from termvisor.ops.api.operation import CLI_ONLY_COMMANDS, COMMAND_GROUPS, Operation

OPERATION_PATHS: dict[str, tuple[str, ...]] = {
    "panes and agents": (
        "panes/list_panes",
        "panes/list_windows",
        "panes/list_sessions",
        "agents/status",
        "agents/next",
        "agents/explain",
        "agents/watch",
        "panes/watch_panes",
        "agents/timeline",
        "agents/usage_daily",
        "agents/agents_list",
        "agents/agents_sessions",
        "agents/agents_new",
        "agents/agents_record",
        "agents/agents_test",
        "agents/list_sources",
        "agents/tmux_status",
    ),
    "output and history": (
        "panes/get_text",
        "panes/get_screen",
        "panes/watch_screen",
        "history/search_history",
        "panes/wait_for",
        "history/list_commands",
        "panes/list_gaps",
        "history/export",
        "history/replay",
    ),
    "events": (
        "events/list_events",
        "events/watch_events",
        "events/report_event",
        "events/explain_event",
        "events/events_ack",
        "events/events_mute",
        "events/events_mutes",
        "events/events_unmute",
    ),
    "actions": (
        "input/send_text",
        "input/send_keys",
        "input/answer_dialog",
        "input/interrupt",
        "input/quit_agent",
        "agents/resume_session",
        "agents/revive",
        "panes/spawn",
        "panes/split",
        "panes/kill",
        "panes/activate",
        "panes/attach",
        "panes/set_title",
        "events/notify",
        "audit/undo",
        "panes/reserve",
        "panes/release",
        "panes/list_reservations",
    ),
    "jobs": (
        "jobs/run",
        "jobs/job_list",
        "jobs/job_status",
        "jobs/job_wait",
        "jobs/job_send",
        "jobs/job_harvest",
        "jobs/job_extract",
        "jobs/job_stop",
        "jobs/job_detach",
        "jobs/job_attach",
        "jobs/job_prune",
    ),
    "approvals, audit and policy": (
        "approvals/inbox",
        "approvals/watch_inbox",
        "approvals/approve",
        "approvals/deny",
        "approvals/list_permits",
        "approvals/revoke_permit",
        "audit/audit",
        "audit/audit_verify",
        "audit/audit_export",
        "policy/policy_show",
        "policy/policy_explain",
        "policy/policy_test",
    ),
    "rules, workflows and accounts": (
        "rules/rules_list",
        "rules/rules_show",
        "rules/rules_test",
        "rules/rules_lint",
        "rules/rules_new",
        "workflows/workflow_list",
        "workflows/workflow_new",
        "workflows/workflow_show",
        "workflows/workflow_run",
        "workflows/workflow_dry_run",
        "workflows/workflow_status",
        "workflows/workflow_history",
        "workflows/workflow_signal",
        "workflows/workflow_pause",
        "workflows/workflow_resume",
        "workflows/workflow_cancel",
        "accounts/accounts_list",
        "accounts/accounts_show",
        "accounts/accounts_pick",
        "accounts/accounts_use",
        "accounts/accounts_refresh",
    ),
    "setup and maintenance": (
        "setup/setup_shell",
        "setup/setup_tmux",
        "setup/setup_agents",
        "approvals/hook_permission",
        "config/config_init",
        "config/config_show",
        "config/config_get",
        "config/config_set",
        "config/config_unset",
        "config/config_edit",
        "config/config_reload",
        "config/config_validate",
        "config/config_path",
        "system/health",
        "system/doctor",
        "system/logs",
        "database/db_status",
        "database/db_prune",
        "database/db_vacuum",
        "database/db_reindex",
        "database/db_check",
        "database/db_backup",
        "database/db_restore",
    ),
    "getting help": (
        "setup/completion",
        "system/version",
        "system/quick_start",
        "system/help",
    ),
}
"""Chapter of the help and the reference -> its operations, as `<folder below ops>/<operation>`, in display order."""
TOPIC_BY_OPERATION = {
    name: topic for paths in OPERATION_PATHS.values() for topic, name in (path.split("/") for path in paths)
}
OPERATION_NAMES = tuple(TOPIC_BY_OPERATION)

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
    "job": "job_list",
    "jobs": "job_list",
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
    "watch-panes": "watch_panes",
    "timeline": "timeline",
    "usage-daily": "usage_daily",
    "get-text": "get_text",
    "get-screen": "get_screen",
    "watch-screen": "watch_screen",
    "search": "search_history",
    "wait-for": "wait_for",
    "commands": "list_commands",
    "events": "list_events",
    "event": "report_event",
    "run": "run",
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
    "watch-inbox": "watch_inbox",
    "approve": "approve",
    "deny": "deny",
    "audit": "audit",
    "gaps": "list_gaps",
    "export": "export",
    "replay": "replay",
    "health": "health",
    "quick-start": "quick_start",
}
OPERATIONS_FOR_PEOPLE = frozenset(
    {"approve", "deny", "attach", "config_set", "config_unset", "setup_shell", "setup_tmux", "setup_agents"}
)
"""Operations that a hint for a program leaves to a person: programs are refused, or need approval, to run them."""
STREAM_OPERATIONS = (
    "watch",
    "watch_panes",
    "agents_record",
    "watch_screen",
    "export",
    "replay",
    "watch_events",
    "watch_inbox",
    "audit_export",
    "db_prune",
    "db_vacuum",
    "db_reindex",
)
"""Operations that return a stream of results, in the order of `OPERATION_NAMES`."""


def load_operation(name: str) -> Operation:
    """Import the operation with this exact name."""
    # Every operation module names its declaration OP; a test compares the tables here with it.
    operation: Operation = import_module(f"termvisor.ops.{TOPIC_BY_OPERATION[name]}.{name}").OP
    return operation


def load_by_any_name(word: str) -> Operation:
    """Load an operation by its name, alias or robot name. Raises UnknownCommand."""
    name = _resolve_name(word, is_robot=True)
    if name is None:
        raise _build_unknown_command_error(word, is_robot=True)
    return load_operation(name)


def find_chapter(name: str) -> str:
    """Return the help chapter that lists this operation."""
    path = f"{TOPIC_BY_OPERATION[name]}/{name}"
    return next(title for title, paths in OPERATION_PATHS.items() if path in paths)


def load_all_operations() -> list[Operation]:
    return [load_operation(name) for name in OPERATION_NAMES]


def find_operation(argv: Sequence[str], is_robot: bool) -> tuple[Operation, list[str]]:
    """Return the operation that a command line names, and its remaining words. Raises UnknownCommand."""
    _, words = split_global_options(argv)
    if not words:
        return load_operation("quick_start"), []
    # In a command group, try two words before one, so that `events ack` is not `events` with an argument.
    two_words = _resolve_name(f"{words[0]}_{words[1]}", is_robot) if len(words) > 1 else None
    if two_words and words[0] in COMMAND_GROUPS:
        return load_operation(two_words), words[2:]
    if name := _resolve_name(words[0], is_robot):
        # `explain` takes a pane or `event:<id>`; these are two operations.
        is_event = name == "explain" and any(word.startswith("event:") for word in words[1:])
        return load_operation("explain_event" if is_event else name), words[1:]
    if two_words:  # `list panes` for `list-panes`
        return load_operation(two_words), words[2:]
    raise _build_unknown_command_error(words[0], is_robot)


def name_robot_commands(text: str) -> str:
    """Return a hint with `visor <command>` replaced by the command for programs, except what a person must run."""
    return re.sub(r"`visor ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?", _name_robot_command, text)


def _name_robot_command(match: re.Match[str]) -> str:
    words = [word for word in match.groups() if word]
    try:
        op, rest = find_operation(words, is_robot=False)
    except UnknownCommand:  # `visor up`, or a robot command already
        return match[0]
    if op.name in OPERATIONS_FOR_PEOPLE:
        return match[0]
    return " ".join(["`visor robot", op.robot_name or op.command, *rest])


def _resolve_name(word: str, is_robot: bool) -> str | None:
    """Return the operation's name for a name with - or _, an alias or a robot name."""
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
            f"`{word}` needs a subcommand: {', '.join(rest)}", hint=f"For example `visor {word} {rest[0]}`."
        )
    known = [name.replace("_", "-") for name in OPERATION_NAMES] + list(
        OPERATIONS_BY_ROBOT_NAME if is_robot else (*COMMAND_ALIASES, *dict(CLI_ONLY_COMMANDS))
    )
    near = find_close_matches(word, known)
    hint = f"Did you mean {' or '.join(near)}?" if near else "`visor help` lists the commands."
    return UnknownCommand(f"unknown command {word!r}", hint=hint, details={"nearest": near})

"""Run operations on fake services as the command line does, and list one call per operation for golden tests."""

import os
from typing import Any

import msgspec
from msgspec import Struct

from termvisor.agents.adapters import described
from termvisor.detection import packs
from termvisor.ops.api.dispatch import CHUNK_KINDS, CommandContext, dispatch_command_line
from termvisor.ops.api.services import Services


class CommandResult(Struct, frozen=True):
    """The output, exit status and input requests of a command line."""

    out: str
    err: str
    status: int
    file: str = ""
    """The file that replaces stdout, if any."""
    question: str = ""
    """The text that a user at a terminal would be asked to confirm."""
    approval_number: str = ""
    """The id of the approval request that the user would answer."""
    editable_text: str = ""
    """The text that the user could edit."""
    input_source: str = ""
    """The file or ``-`` from which the client must read a text."""
    consent_option: str = ""
    """The option that the client adds if the user confirms; empty for `--yes`."""

    @property
    def envelope(self) -> dict[str, Any]:
        return dict(msgspec.json.decode(self.out))

    @property
    def items(self) -> list[Any]:
        """The objects of a JSON Lines stream."""
        return [msgspec.json.decode(line) for line in self.out.splitlines()]


async def run_command(
    services: Services,
    *argv: str,
    width: int = 0,
    colour: bool = False,
    is_terminal: bool = False,
    is_full: bool = True,
    cwd: str = "/",
) -> CommandResult:
    """Run `visor <argv>`. If the first word is `robot`, use robot mode, by default with every field (`--full`)."""
    # The client removes this word and sends the mode to the daemon instead.
    is_robot = argv[:1] == ("robot",)
    words = (*(("--full",) if is_full else ()), *argv[1:]) if is_robot else argv
    return await collect_answer(
        services,
        CommandContext(argv=words, is_robot=is_robot, width=width, colour=colour, is_terminal=is_terminal, cwd=cwd),
    )


async def collect_answer(services: Services, context: CommandContext) -> CommandResult:
    output: dict[bytes, bytes] = {}
    status = -1
    async for answer_part in dispatch_command_line(services, context):
        if isinstance(answer_part, int):
            status = answer_part
        else:
            # The client joins chunks of the same kind, so the boundaries do not matter.
            kind = CHUNK_KINDS.get(type(answer_part), b"o")
            output[kind] = output.get(kind, b"") + answer_part
    out, err, *more = (output.get(kind, b"").decode() for kind in (b"o", b"e", b"f", b"q", b"n", b"t", b"i", b"c"))
    return CommandResult(out, err, status, *more)


_SAMPLE_PACK = os.path.join(os.path.dirname(packs.__file__), "core", "wezterm")
"""A small pack, because linting all packs takes seconds and another test covers that."""
_SAMPLE_DESCRIPTION = os.path.join(os.path.dirname(described.__file__), "aider.toml")

OPERATION_CALLS: dict[str, tuple[str, ...]] = {
    "list_panes": ("state", "--gone"),
    "list_windows": ("list-windows", "--with-agent-status"),
    "list_sessions": ("list-sessions", "--agent-summary"),
    "status": ("status",),
    "next": ("next",),
    "explain": ("explain", "2"),
    "watch": ("watch", "--once"),
    "watch_panes": ("watch-panes", "--once"),
    "timeline": ("timeline", "--since", "10m"),
    "usage_daily": ("usage-daily",),
    "agents_list": ("agents", "list"),
    "agents_sessions": ("agents", "sessions", "--agent", "claude_code"),
    "agents_new": ("agents", "new", "mine", "--pane", "2", "--shows", "waiting_input"),
    "agents_record": ("agents", "record", "2", "--shows", "waiting_input", "--secs", "0"),
    "agents_test": ("agents", "test", _SAMPLE_DESCRIPTION),
    "list_sources": ("sources",),
    "tmux_status": ("tmux-status", "{waiting} wait, {running} run"),
    "get_text": ("get-text", "1", "--numbers"),
    "get_screen": ("get-screen", "2"),
    "watch_screen": ("watch-screen", "2", "--once"),
    "search_history": ("search", "error", "--limit", "2"),
    "wait_for": ("wait-for", "1", "tests passed"),
    "list_commands": ("commands",),
    "list_gaps": ("gaps",),
    "export": ("export", "1", "--jsonl"),
    "replay": ("replay", "2"),
    "list_events": ("events",),
    "watch_events": ("watch-events", "--since-cursor", "1", "--once"),
    "report_event": ("event", "--from-uservar", "--pane", "1", "--name", "visor-ready", "--value", '{"port": 8080}'),
    "explain_event": ("explain-event", "event:6"),
    "events_ack": ("events", "ack", "5", "6", "--note", "waited"),
    "events_mute": ("events", "mute", "usage.*", "--for", "2h"),
    "events_mutes": ("events", "mutes"),
    "events_unmute": ("events", "unmute", "1"),
    "send_text": ("send", "1", "make test"),
    "send_keys": ("send-keys", "1", "C-c"),
    "answer_dialog": ("answer", "2", "allow"),
    "interrupt": ("interrupt", "2"),
    "quit_agent": ("quit", "2", "--dry-run"),
    "resume_session": ("resume", "5e55", "--dry-run"),
    "revive": ("revive", "5e55", "--dry-run"),
    "spawn": ("spawn", "--session", "work", "--", "claude"),
    "split": ("split", "1", "--dry-run", "--", "htop"),
    "kill": ("kill", "1", "--yes"),
    "activate": ("activate", "2"),
    "attach": ("attach", "2"),
    "set_title": ("set-title", "1", "release", "build"),
    "notify": ("notify", "--pane", "1", "--way", "desktop", "build", "it waits for you"),
    "undo": ("undo",),
    "reserve": ("reserve", "1", "--owner", "alice"),
    "release": ("release", "1"),
    "list_reservations": ("list-reservations",),
    "run": ("run", "--name", "build", "--", "make", "test"),
    "job_list": (
        "job",
        "list",
    ),
    "job_status": ("job", "status", "login"),
    "job_wait": ("job", "wait", "build"),
    "job_send": ("job", "send", "login", "yes"),
    "job_harvest": ("job", "harvest", "1"),
    "job_extract": ("job", "extract", "login", "gh_auth_login"),
    "job_stop": ("job", "stop", "login"),
    "job_detach": ("job", "detach", "login"),
    "job_attach": ("job", "attach", "login"),
    "job_prune": ("job", "prune", "--keep", "1"),
    "inbox": ("inbox",),
    "watch_inbox": ("watch-inbox", "--once"),
    "approve": ("approve", "1"),
    "deny": ("deny", "1"),
    "list_permits": ("list-permits",),
    "revoke_permit": ("revoke-permit", "1"),
    "audit": ("audit",),
    "audit_verify": ("audit", "verify"),
    "audit_export": ("audit", "export"),
    "policy_show": ("policy", "show"),
    "policy_explain": ("policy", "explain", "send", "1", "make test"),
    "policy_test": ("policy", "test"),
    "rules_list": ("rules", "list", "--pack", "core.wezterm"),
    "rules_show": ("rules", "show", "wezterm.version.mismatch"),
    "rules_test": ("rules", "test", "--trace", "Port 5000 is already in use"),
    "rules_lint": ("rules", "lint", _SAMPLE_PACK),
    "rules_new": ("rules", "new", "deploy.rollout.stuck"),
    "workflow_list": ("workflow", "list"),
    "workflow_new": ("workflow", "new", "nightly_copy"),
    "workflow_show": ("workflow", "show", "nightly"),
    "workflow_run": ("workflow", "run", "nightly", "1"),
    "workflow_dry_run": ("workflow", "dry-run", "nightly", "1"),
    "workflow_status": ("workflow", "status", "--all"),
    "workflow_history": ("workflow", "history", "3"),
    "workflow_signal": ("workflow", "signal", "3", "go"),
    "workflow_pause": ("workflow", "pause", "3"),
    "workflow_resume": ("workflow", "resume", "3"),
    "workflow_cancel": ("workflow", "cancel", "3"),
    "accounts_list": ("accounts", "list"),
    "accounts_show": ("accounts", "show", "work"),
    "accounts_pick": ("accounts", "pick", "openai", "--explain"),
    "accounts_use": ("accounts", "use", "anthropic/second"),
    "accounts_refresh": ("accounts", "refresh", "--service", "openai"),
    "setup_shell": ("setup", "shell", "bash", "--remove"),
    "setup_tmux": ("setup", "tmux"),
    "setup_agents": ("setup", "agents", "--agent", "copilot", "--remove"),
    "hook_permission": ("hook", "permission", "--agent", "claude_code", "--text", '{"tool_name": "Bash"}'),
    "config_init": ("config", "init"),
    "config_show": ("config", "show", "--effective"),
    "config_get": ("config", "get", "retention"),
    "config_set": ("config", "set", "log_level", "debug"),
    "config_unset": ("config", "unset", "log_level"),
    "config_edit": ("config", "edit"),
    "config_reload": ("config", "reload"),
    "config_validate": ("config", "validate"),
    "config_path": ("config", "path"),
    "health": ("health",),
    "doctor": ("doctor",),
    "logs": ("logs",),
    "db_status": ("db", "status"),
    "db_prune": ("db", "prune"),
    "db_vacuum": ("db", "vacuum"),
    "db_reindex": ("db", "reindex"),
    "db_check": ("db", "check"),
    "db_backup": ("db", "backup", "/backups/copy.db"),
    "db_restore": ("db", "restore", "--dry-run"),
    "completion": ("completion", "panes"),
    "version": ("version",),
    "quick_start": ("quick-start",),
    "help": ("help", "get-screen"),
}
"""One robot call per operation, for the services of `build_sample_services`."""

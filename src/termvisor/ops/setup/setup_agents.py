"""The op `setup_agents`: have agents tell what they do, and let a person answer them from anywhere."""

import os
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.errors import ConfirmationRequired
from termvisor.model.agent.hooks import HookedAgent, HookScope
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.config._settings import get_paths
from termvisor.ops.render.text import RenderOptions, sanitize, sanitize_lines
from termvisor.settings import get_environment
from termvisor.setup import hook_script, shell_startup_file
from termvisor.setup.agent_settings import (
    AgentSettingsFile,
    add_hooks,
    build_settings_file,
    get_scope_folder,
    has_other_status_line,
    inspect_hooks,
    read_with_backup,
    remove_hooks,
)
from termvisor.setup.installed_agents import list_installed_agents
from termvisor.setup.user_file import FileChange, format_diff

HookSetupOutcome = Literal["installed", "updated", "removed", "unchanged", "skipped", "foreseen"]
_WRITE_ERROR_HINT = "Check the file's rights; `--dry-run` shows what would be put there."
AGENT_NOTES: dict[HookedAgent, str] = {
    "codex": "Codex asks at its next start whether these hooks may run (`Hooks need review`): choose to trust them.",
    "copilot": "An agent that runs has them from its next start.",
}


class SetupAgentsArgs(Struct, frozen=True, kw_only=True):
    """Which agents, whose settings, and what to do with them."""

    agent: Annotated[
        tuple[HookedAgent, ...],
        Meta(description="Only this agent; may be repeated. Without it all installed ones."),
    ] = ()
    scope: Annotated[HookScope, Meta(description="Your own settings, or those of the project in this folder.")] = "user"
    remove: Annotated[bool, Meta(description="Take our hooks out again.")] = False
    status_line: Annotated[
        bool, Meta(description="Also a status line of Claude Code that shows nothing and tells cost and context.")
    ] = False
    yes: Annotated[bool, Meta(description="Do it without asking.", extra={"short": ("-y",)})] = False
    dry_run: Annotated[bool, Meta(description="Only show the change to each file.")] = False


class HookSetupItem(Struct, frozen=True, kw_only=True):
    """``kept`` is where the file as it was before is, ``change`` what a dry run foresees."""

    agent: HookedAgent
    path: str
    outcome: HookSetupOutcome
    note: str = ""
    kept: str | None = None
    change: str = ""


class SetupAgentsResult(Struct, frozen=True, kw_only=True):
    """``script`` is what all of the hooks run."""

    script: str
    items: tuple[HookSetupItem, ...]


class _HookPlan(Struct, frozen=True):
    file: AgentSettingsFile
    change: FileChange
    had_our_hooks: bool
    keeps_status_line: bool
    """A status line is wanted, and one stands there that is not ours."""


async def run(services: Services, args: SetupAgentsArgs) -> SetupAgentsResult:
    places, environ = get_paths(services), get_environment()
    folder = get_scope_folder(args.scope)
    files = [
        build_settings_file(agent, places, environ, folder) for agent in args.agent or list_installed_agents(environ)
    ]
    plans = [_plan_file(replace(file, wants_status=args.status_line), args.remove) for file in files]
    shown = "\n".join(format_diff(plan.change) for plan in plans if not plan.change.is_empty)
    if args.dry_run:
        return SetupAgentsResult(script=places.hook_file, items=tuple(map(_preview_plan, plans)))
    if shown and not args.yes:
        raise ConfirmationRequired(f"{_describe_changed_files(plans)} would be changed like this", shown=shown)
    if not args.remove and any(not plan.file.skip_reason for plan in plans):
        hook_script.install(places)
    done = _remove_hooks if args.remove else _install_hooks
    return SetupAgentsResult(script=places.hook_file, items=tuple(map(done, plans)))


def _plan_file(file: AgentSettingsFile, is_removal: bool) -> _HookPlan:
    before, kept = read_with_backup(file)
    had_ours = inspect_hooks(file, before).state in ("current", "changed")
    keeps = file.wants_status and bool(file.status) and has_other_status_line(file, before)
    return _HookPlan(
        file, FileChange(file.path, before, _compute_new_content(file, before, kept, is_removal)), had_ours, keeps
    )


def _compute_new_content(
    file: AgentSettingsFile, before: bytes | None, backup_data: bytes | None, is_removal: bool
) -> bytes | None:
    if is_removal:
        return remove_hooks(file, before, backup_data)
    return before if file.skip_reason else add_hooks(file, before)


def _preview_plan(plan: _HookPlan) -> HookSetupItem:
    outcome: HookSetupOutcome = (
        "skipped" if plan.file.skip_reason else "unchanged" if plan.change.is_empty else "foreseen"
    )
    return _build_item(plan, outcome, change=format_diff(plan.change))


def _install_hooks(plan: _HookPlan) -> HookSetupItem:
    change = plan.change
    if plan.file.skip_reason:
        return _build_item(plan, "skipped")
    if change.is_empty:
        return _build_item(plan, "unchanged", backup_path=_find_backup(change.path))
    shell_startup_file.replace_user_file(
        change.path, change.after, backup_data=None if plan.had_our_hooks else change.before, hint=_WRITE_ERROR_HINT
    )
    return _build_item(plan, "updated" if plan.had_our_hooks else "installed", backup_path=_find_backup(change.path))


def _remove_hooks(plan: _HookPlan) -> HookSetupItem:
    change = plan.change
    if change.is_empty:
        return _build_item(plan, "unchanged")
    shell_startup_file.replace_user_file(change.path, change.after, hint=_WRITE_ERROR_HINT)
    return _build_item(
        plan, "removed", backup_path=shell_startup_file.remove_redundant_backup(change.path, change.after)
    )


def _find_backup(path: str) -> str | None:
    beside = shell_startup_file.get_backup_path(path)
    return beside if os.path.exists(beside) else None


def _build_item(
    plan: _HookPlan, outcome: HookSetupOutcome, *, backup_path: str | None = None, change: str = ""
) -> HookSetupItem:
    file = plan.file
    is_new = outcome in ("installed", "updated", "foreseen")
    note = file.skip_reason if outcome == "skipped" else AGENT_NOTES.get(file.agent, "") if is_new else ""
    if plan.keeps_status_line:
        command = msgspec.json.decode(file.status)["command"].partition(" $PPID")[0]
        note = f"Your own status line is left alone. For cost and context let it hand its input on to `{command}`."
    return HookSetupItem(agent=file.agent, path=file.path, outcome=outcome, note=note, kept=backup_path, change=change)


def _describe_changed_files(plans: Sequence[_HookPlan]) -> str:
    changed = [plan.change.path for plan in plans if not plan.change.is_empty]
    return changed[0] if len(changed) == 1 else f"{len(changed)} files"


def render_text(result: SetupAgentsResult, options: RenderOptions) -> str:
    if not result.items:
        return "No agent that we know is installed here."
    lines = []
    for item in result.items:
        kept = f"; the file as it was before is {item.kept}" if item.kept else ""
        lines += [sanitize(f"{item.agent:<12} {_OUTCOME_LABELS[item.outcome]:<16} {item.path}{kept}")]
        lines += [sanitize_lines(item.change)] if item.change else []
        lines += (
            [options.paint("yellow", sanitize(f"{'':<12} {item.note}"))] if item.note and not options.is_quiet else []
        )
    return "\n".join(lines)


_OUTCOME_LABELS: dict[HookSetupOutcome, str] = {
    "installed": "set up",
    "updated": "brought up to date",
    "removed": "taken out",
    "unchanged": "nothing to do",
    "skipped": "left alone",
    "foreseen": "would be changed",
}


OP = Operation(
    name="setup_agents",
    summary="Have agents tell what they do, and be answered from anywhere.",
    doc="""Puts hooks of ours into the settings of the agents that are installed: Claude Code, Codex, Gemini, Copilot,
and a plugin for opencode. Each runs one small program in Termvisor's data folder, which appends a line to a file and
ends; nothing is lost while no daemon runs, and no agent ever waits for it or fails because of it. Claude Code's
permission requests also come to the inbox, while its own dialog stays open; see `hook permission`.

With `--status-line` Claude Code also tells its cost and how full its context is, by the command of its status line.
Ours shows nothing, but where there is a status line Claude Code no longer writes `esc to interrupt` below its input.
One of your own is never replaced: how it can tell us, too, is said then.

The change to each file is shown first. Everything else in a file stays as it is, to the byte; a file that is no valid
JSON is refused, and then nothing at all is written. The file as it was is kept beside it as `.before-visor`;
`--remove` puts it back, or takes out only what is ours where the file was changed since. A second call changes nothing,
and `visor doctor` tells when something no longer fits.""",
    args_type=SetupAgentsArgs,
    result_type=SetupAgentsResult,
    run=run,
    render_text=render_text,
    effect="local",
    exit_statuses=(
        (2, "Nobody said yes: there is no terminal to ask on, and --yes was not given."),
        (69, "A file cannot be written."),
        (78, "A file is no valid JSON, or not of the shape that its agent wants."),
    ),
    examples=(
        OperationExample("setup agents", "show the change to each agent's settings, and ask"),
        OperationExample("setup agents --agent claude_code --yes", "only Claude Code, without asking"),
        OperationExample("setup agents --scope project --dry-run", "what would change in this project's settings"),
        OperationExample("setup agents --remove", "take everything out again"),
    ),
)

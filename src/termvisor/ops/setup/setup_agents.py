"""The operation `setup_agents`: install hooks and the MCP server into the settings of agents, or remove them."""

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.errors import ConfigError, ConfirmationRequired
from termvisor.model.action.action import WriteFile
from termvisor.model.agent.hooks import HookedAgent, HookScope
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, sanitize, sanitize_lines
from termvisor.settings import get_environment
from termvisor.setup import agent_settings, hook_script, mcp_registration, user_file
from termvisor.setup.user_file import FileChange, format_diff

HookSetupOutcome = Literal["installed", "updated", "removed", "unchanged", "skipped", "foreseen"]
_WRITE_ERROR_HINT = "Check the file's permissions; `--dry-run` shows the change."
AGENT_NOTES: dict[HookedAgent, str] = {
    "codex": "Codex asks at its next start whether these hooks may run (`Hooks need review`): choose to trust them.",
    "copilot": "A running agent uses them after its next start.",
}


class SetupAgentsArgs(Struct, frozen=True, kw_only=True):
    """Choose agents, scope and direction."""

    agent: Annotated[
        tuple[HookedAgent, ...], Meta(description="Only this agent; repeatable. Default: all installed agents.")
    ] = ()
    scope: Annotated[HookScope, Meta(description="Your user settings, or the project in this directory.")] = "user"
    remove: Annotated[bool, Meta(description="Remove our hooks and the MCP server.")] = False
    mcp: Annotated[bool, Meta(description="Also register `visor mcp`, so that the agents can call our tools.")] = False
    status_line: Annotated[
        bool, Meta(description="Also add an empty status line to Claude Code that reports cost and context.")
    ] = False
    yes: Annotated[bool, Meta(description="Do not ask for confirmation.", extra={"short": ("-y",)})] = False
    dry_run: Annotated[bool, Meta(description="Only show the change to each file.")] = False


class HookSetupItem(Struct, frozen=True, kw_only=True):
    """``kept`` is the path of the backup, ``change`` the diff of a dry run."""

    agent: HookedAgent
    part: Literal["hooks", "mcp"] = "hooks"
    path: str
    outcome: HookSetupOutcome
    note: str = ""
    kept: str | None = None
    change: str = ""


class SetupAgentsResult(Struct, frozen=True, kw_only=True):
    """``script`` is the path of the script that all hooks run."""

    script: str
    items: tuple[HookSetupItem, ...]
    searched: dict[HookedAgent, str] = {}
    """Without any agent: the agents that were looked for, with the folder of their settings."""


class _HookPlan(Struct, frozen=True):
    file: agent_settings.AgentSettingsFile
    change: FileChange
    had_our_hooks: bool
    keeps_status_line: bool
    """A status line was requested, but the user has another one."""


async def run(services: Services, args: SetupAgentsArgs) -> SetupAgentsResult:
    paths, environ = services.paths, get_environment()
    folder = agent_settings.get_scope_folder(args.scope)
    files = [
        agent_settings.build_settings_file(agent, paths, environ, folder)
        for agent in args.agent or agent_settings.list_installed_agents(environ)
    ]
    if not files:
        searched = {agent: agent_settings.get_settings_folder(agent, environ) for agent in agent_settings.HOOKED_AGENTS}
        return SetupAgentsResult(script=paths.hook_file, items=(), searched=searched)
    # All files are planned before the first one is written: an invalid one stops the whole setup.
    plans, registrations = _plan_changes(args, environ, files)
    both: list[_HookPlan | _RegistrationPlan] = [*plans, *registrations]
    diff = "\n".join(format_diff(plan.change) for plan in both if not plan.change.is_empty)
    if args.dry_run:
        items = (*map(_preview_plan, plans), *map(_preview_registration, registrations))
        return SetupAgentsResult(script=paths.hook_file, items=items)
    if diff and not args.yes:
        raise ConfirmationRequired(f"change {_describe_changed_files(both)}?", shown=diff)
    # Written before the settings, because an agent that reloads them immediately must find the script.
    if not args.remove and any(not plan.file.skip_reason for plan in plans):
        hook_script.install(paths)
    if args.remove:
        registered = [_apply_registration(plan, is_removal=True) for plan in registrations]
        hooked = list(map(_remove_hooks, plans))
    else:
        hooked = list(map(_install_hooks, plans))
        registered = [_apply_registration(plan, is_removal=False) for plan in registrations]
    return SetupAgentsResult(script=paths.hook_file, items=(*hooked, *registered))


class _RegistrationPlan(Struct, frozen=True):
    agent: HookedAgent
    change: FileChange
    note: str = ""


def _plan_changes(
    args: SetupAgentsArgs, environ: Mapping[str, str], files: Sequence[agent_settings.AgentSettingsFile]
) -> tuple[list[_HookPlan], list[_RegistrationPlan]]:
    """Plan the hooks and, last in and first out, the MCP servers.

    Gemini has both in one file, so each plan starts with the content that the one before it leaves.
    """
    agents = [file.agent for file in files]
    wanted = [replace(file, wants_status=args.status_line) for file in files]
    if args.remove:
        registrations = _plan_registrations(args, environ, agents, {})
        contents = {plan.change.path: plan.change.after for plan in registrations}
        return [_plan_file(file, True, contents) for file in wanted], registrations
    plans = [_plan_file(file, False, {}) for file in wanted]
    return plans, _plan_registrations(args, environ, agents, {plan.change.path: plan.change.after for plan in plans})


def _plan_registrations(
    args: SetupAgentsArgs,
    environ: Mapping[str, str],
    agents: Sequence[HookedAgent],
    contents: Mapping[str, bytes | None],
) -> list[_RegistrationPlan]:
    """Plan the MCP server of each agent; ``contents`` are files as earlier plans leave them."""
    plans: list[_RegistrationPlan] = []
    for agent in agents if args.mcp or args.remove else ():
        file = mcp_registration.build_server_file(agent, environ, args.scope, os.getcwd())
        before = contents[file.path] if file.path in contents else user_file.read_user_file(file.path)
        # A project's file of Claude Code and Copilot is the same.
        before = next((plan.change.after for plan in reversed(plans) if plan.change.path == file.path), before)
        try:
            plans.append(_plan_registration(file, before, args.remove))
        except ConfigError as error:
            # A file that only its agent uses must not prevent the removal of hooks.
            if not args.remove:
                raise
            plans.append(_RegistrationPlan(agent, FileChange(file.path, before, before), error.message))
    # Without a registration there is nothing to say about its removal.
    return [plan for plan in plans if not (args.remove and plan.change.is_empty and not plan.note)]


def _plan_registration(
    file: mcp_registration.McpServerFile, before: bytes | None, is_removal: bool
) -> _RegistrationPlan:
    change = mcp_registration.remove_server if is_removal else mcp_registration.add_server
    plan = _RegistrationPlan(file.agent, FileChange(file.path, before, change(file, before)))
    if not is_removal or not plan.change.is_empty or not mcp_registration.has_server(file, before):
        return plan
    return replace(plan, note="A server of this name is not ours and is kept.")


def _preview_registration(plan: _RegistrationPlan) -> HookSetupItem:
    outcome: HookSetupOutcome = "unchanged" if plan.change.is_empty else "foreseen"
    return _build_registration_item(plan, outcome, format_diff(plan.change))


def _apply_registration(plan: _RegistrationPlan, *, is_removal: bool) -> HookSetupItem:
    if plan.change.is_empty:
        return _build_registration_item(plan, "unchanged")
    user_file.replace_user_file(plan.change.path, plan.change.after, hint=_WRITE_ERROR_HINT)
    return _build_registration_item(plan, "removed" if is_removal else "installed")


def _build_registration_item(plan: _RegistrationPlan, outcome: HookSetupOutcome, change: str = "") -> HookSetupItem:
    return HookSetupItem(
        agent=plan.agent, part="mcp", path=plan.change.path, outcome=outcome, note=plan.note, change=change
    )


def _plan_file(
    file: agent_settings.AgentSettingsFile, is_removal: bool, contents: Mapping[str, bytes | None]
) -> _HookPlan:
    before, backup_data = agent_settings.read_with_backup(file)
    before = contents.get(file.path, before)
    return _HookPlan(
        file=file,
        change=FileChange(file.path, before, _compute_new_content(file, before, backup_data, is_removal)),
        had_our_hooks=agent_settings.inspect_hooks(file, before).state in ("current", "changed"),
        keeps_status_line=file.wants_status
        and bool(file.status)
        and agent_settings.has_other_status_line(file, before),
    )


def _compute_new_content(
    file: agent_settings.AgentSettingsFile, before: bytes | None, backup_data: bytes | None, is_removal: bool
) -> bytes | None:
    if is_removal:
        return agent_settings.remove_hooks(file, before, backup_data)
    return before if file.skip_reason else agent_settings.add_hooks(file, before)


def _preview_plan(plan: _HookPlan) -> HookSetupItem:
    # The agent is reported even if nothing would change, so that the list is complete.
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
    user_file.replace_user_file(
        # A file with our hooks in it is not the user's original, so the first backup is kept.
        change.path,
        change.after,
        backup_data=None if plan.had_our_hooks else change.before,
        hint=_WRITE_ERROR_HINT,
    )
    return _build_item(plan, "updated" if plan.had_our_hooks else "installed", backup_path=_find_backup(change.path))


def _remove_hooks(plan: _HookPlan) -> HookSetupItem:
    change = plan.change
    if change.is_empty:
        return _build_item(plan, "unchanged")
    user_file.replace_user_file(change.path, change.after, hint=_WRITE_ERROR_HINT)
    return _build_item(plan, "removed", backup_path=user_file.remove_redundant_backup(change.path, change.after))


def _find_backup(path: str) -> str | None:
    backup_path = user_file.get_backup_path(path)
    return backup_path if os.path.exists(backup_path) else None


def _build_item(
    plan: _HookPlan, outcome: HookSetupOutcome, *, backup_path: str | None = None, change: str = ""
) -> HookSetupItem:
    file = plan.file
    is_new = outcome in ("installed", "updated", "foreseen")
    note = file.skip_reason if outcome == "skipped" else AGENT_NOTES.get(file.agent, "") if is_new else ""
    if plan.keeps_status_line:
        command = msgspec.json.decode(file.status)["command"].partition(" $PPID")[0]
        note = f"Your status line is kept. To report cost and context, let it pipe its input to `{command}`."
    return HookSetupItem(agent=file.agent, path=file.path, outcome=outcome, note=note, kept=backup_path, change=change)


def _describe_changed_files(plans: Sequence[_HookPlan | _RegistrationPlan]) -> str:
    changed = list(dict.fromkeys(plan.change.path for plan in plans if not plan.change.is_empty))
    return changed[0] if len(changed) == 1 else f"{len(changed)} files"


def render_text(result: SetupAgentsResult, options: RenderOptions) -> str:
    if not result.items:
        places = "\n".join(f"  {agent:<12} {folder}" for agent, folder in result.searched.items())
        return sanitize_lines(f"No supported agent is installed: none is on the PATH or has its folder.\n{places}")
    lines = []
    for item in result.items:
        label = "would change" if item.outcome == "foreseen" else item.outcome
        backup = f" (backup: {item.kept})" if item.kept else ""
        what = " (MCP server)" if item.part == "mcp" else ""
        lines += [sanitize(f"{item.agent:<12} {label:<12} {item.path}{what}{backup}")]
        lines += [sanitize_lines(item.change)] if item.change else []
        lines += (
            [options.paint("yellow", sanitize(f"{'':<12} {item.note}"))] if item.note and not options.is_quiet else []
        )
    return "\n".join(lines)


def _list_changes(services: Services, args: SetupAgentsArgs) -> tuple[WriteFile, ...]:
    # Without --yes nothing is written: the change is only shown.
    if args.dry_run or not args.yes:
        return ()
    environ, why = get_environment(), "remove hooks" if args.remove else "hooks"
    # The daemon does not know the client's folder, so files of a project are named relative to it.
    folder = "." if args.scope == "project" else agent_settings.get_scope_folder(args.scope)
    agents = args.agent or agent_settings.list_installed_agents(environ)
    files = (agent_settings.build_settings_file(agent, services.paths, environ, folder) for agent in agents)
    changes = [WriteFile(path=file.path, why=f"{why} of {file.agent}") for file in files]
    for agent in agents if args.mcp or args.remove else ():
        path = mcp_registration.build_server_file(agent, environ, args.scope, ".").path
        changes.append(WriteFile(path=path, why=f"{'remove ' if args.remove else ''}MCP server of {agent}"))
    return tuple(changes)


OP = Operation(
    name="setup_agents",
    summary="Install hooks into agents, to report their state and permission requests.",
    doc="""Adds hooks to the settings of installed agents: Claude Code, Codex, Gemini, Copilot, and a plugin for
opencode. Each hook runs a small script in Termvisor's data directory that appends a line to a file and exits; nothing
is lost while no daemon is running, and no agent waits for it or fails because of it. Permission requests also appear in
the inbox, while the agent's own dialog stays open; see `hook permission`.

`--status-line` also makes Claude Code report its cost and context usage, through the command of its status line. Ours
prints nothing, but with a status line Claude Code no longer shows `esc to interrupt` below its input. A status line of
your own is never replaced; the output then says how to extend it.

`--mcp` also registers `visor mcp` as an MCP server, so that the agents can call our tools; see the guide to MCP. A
server named `visor` that differs from ours is kept.

The change to each file is shown first. All other bytes of a file are kept; if a file is not valid JSON, no file is
written. The original is kept beside it as `.before-visor`; `--remove` restores it, or removes only our hooks if the
file was changed since. A second call changes nothing, and `visor doctor` reports outdated hooks. A program needs
approval, also with `--yes`.""",
    run=run,
    render_text=render_text,
    effect="local",
    list_changes=_list_changes,
    exit_statuses=(
        (2, "Not confirmed: no terminal, and --yes was not given."),
        (69, "A file cannot be written."),
        (78, "A file is not valid JSON, or does not have the expected structure."),
    ),
    examples=(
        OperationExample("setup agents", "show the changes and ask for confirmation"),
        OperationExample("setup agents --agent claude_code --yes", "only Claude Code, without confirmation"),
        OperationExample("setup agents --scope project --dry-run", "show the changes to this project's settings"),
        OperationExample("setup agents --mcp", "also register our MCP server"),
        OperationExample("setup agents --remove", "remove all hooks and the MCP server"),
    ),
)

"""The op `setup_agents`: have agents tell what they do, and let a person answer them from anywhere."""

import os
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.errors import Unconfirmed
from termvisor.model.agent.hooks import HookedAgent, Scope
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.config._shared import where
from termvisor.ops.render.text import Look, clean, clean_lines
from termvisor.settings import environment
from termvisor.setup import hook_script
from termvisor.setup import shell_startup_file as start_file
from termvisor.setup.agent_settings import (
    AgentFile,
    agent_file,
    found,
    keeps_status,
    read,
    scope_folder,
    with_hooks,
    without_hooks,
)
from termvisor.setup.file_diff import Change, difference
from termvisor.setup.installed_agents import installed

Outcome = Literal["installed", "updated", "removed", "unchanged", "skipped", "foreseen"]
_HINT = "Check the file's rights; `--dry-run` shows what would be put there."
NOTES: dict[HookedAgent, str] = {
    "codex": "Codex asks at its next start whether these hooks may run (`Hooks need review`): choose to trust them.",
    "copilot": "An agent that runs has them from its next start.",
}


class SetupAgents(Struct, frozen=True, kw_only=True):
    """Which agents, whose settings, and what to do with them."""

    agent: Annotated[
        tuple[HookedAgent, ...],
        Meta(description="Only this agent; may be repeated. Without it all installed ones."),
    ] = ()
    scope: Annotated[Scope, Meta(description="Your own settings, or those of the project in this folder.")] = "user"
    remove: Annotated[bool, Meta(description="Take our hooks out again.")] = False
    status_line: Annotated[
        bool, Meta(description="Also a status line of Claude Code that shows nothing and tells cost and context.")
    ] = False
    yes: Annotated[bool, Meta(description="Do it without asking.", extra={"short": ("-y",)})] = False
    dry_run: Annotated[bool, Meta(description="Only show the change to each file.")] = False


class HookSetup(Struct, frozen=True, kw_only=True):
    """``kept`` is where the file as it was before is, ``change`` what a dry run foresees."""

    agent: HookedAgent
    path: str
    outcome: Outcome
    note: str = ""
    kept: str | None = None
    change: str = ""


class AgentsSetup(Struct, frozen=True, kw_only=True):
    """``script`` is what all of the hooks run."""

    script: str
    items: tuple[HookSetup, ...]


class _Plan(Struct, frozen=True):
    file: AgentFile
    change: Change
    had_ours: bool
    keeps_status: bool
    """A status line is wanted, and one stands there that is not ours."""


async def run(world: World, wanted: SetupAgents) -> AgentsSetup:
    places, environ = where(world), environment()
    folder = scope_folder(wanted.scope)
    files = [agent_file(agent, places, environ, folder) for agent in wanted.agent or installed(environ)]
    plans = [_plan(replace(file, wants_status=wanted.status_line), wanted.remove) for file in files]
    shown = "\n".join(difference(plan.change) for plan in plans if not plan.change.is_none)
    if wanted.dry_run:
        return AgentsSetup(script=places.hook_file, items=tuple(map(_foreseen, plans)))
    if shown and not wanted.yes:
        raise Unconfirmed(f"{_files(plans)} would be changed like this", shown=shown)
    if not wanted.remove and any(not plan.file.reason for plan in plans):
        hook_script.install(places)
    done = _removed if wanted.remove else _installed
    return AgentsSetup(script=places.hook_file, items=tuple(map(done, plans)))


def _plan(file: AgentFile, is_removal: bool) -> _Plan:
    before, kept = read(file)
    had_ours = found(file, before).state in ("current", "changed")
    keeps = file.wants_status and bool(file.status) and keeps_status(file, before)
    return _Plan(file, Change(file.path, before, _after(file, before, kept, is_removal)), had_ours, keeps)


def _after(file: AgentFile, before: bytes | None, kept: bytes | None, is_removal: bool) -> bytes | None:
    if is_removal:
        return without_hooks(file, before, kept)
    return before if file.reason else with_hooks(file, before)


def _foreseen(plan: _Plan) -> HookSetup:
    outcome: Outcome = "skipped" if plan.file.reason else "unchanged" if plan.change.is_none else "foreseen"
    return _told(plan, outcome, change=difference(plan.change))


def _installed(plan: _Plan) -> HookSetup:
    change = plan.change
    if plan.file.reason:
        return _told(plan, "skipped")
    if change.is_none:
        return _told(plan, "unchanged", kept=_kept(change.path))
    start_file.replace(change.path, change.after, kept=None if plan.had_ours else change.before, hint=_HINT)
    return _told(plan, "updated" if plan.had_ours else "installed", kept=_kept(change.path))


def _removed(plan: _Plan) -> HookSetup:
    change = plan.change
    if change.is_none:
        return _told(plan, "unchanged")
    start_file.replace(change.path, change.after, hint=_HINT)
    return _told(plan, "removed", kept=start_file.forget(change.path, change.after))


def _kept(path: str) -> str | None:
    beside = start_file.backup(path)
    return beside if os.path.exists(beside) else None


def _told(plan: _Plan, outcome: Outcome, *, kept: str | None = None, change: str = "") -> HookSetup:
    file = plan.file
    is_new = outcome in ("installed", "updated", "foreseen")
    note = file.reason if outcome == "skipped" else NOTES.get(file.agent, "") if is_new else ""
    if plan.keeps_status:
        command = msgspec.json.decode(file.status)["command"].partition(" $PPID")[0]
        note = f"Your own status line is left alone. For cost and context let it hand its input on to `{command}`."
    return HookSetup(agent=file.agent, path=file.path, outcome=outcome, note=note, kept=kept, change=change)


def _files(plans: Sequence[_Plan]) -> str:
    changed = [plan.change.path for plan in plans if not plan.change.is_none]
    return changed[0] if len(changed) == 1 else f"{len(changed)} files"


def plain(told: AgentsSetup, look: Look) -> str:
    if not told.items:
        return "No agent that we know is installed here."
    lines = []
    for item in told.items:
        kept = f"; the file as it was before is {item.kept}" if item.kept else ""
        lines += [clean(f"{item.agent:<12} {_WORDS[item.outcome]:<16} {item.path}{kept}")]
        lines += [clean_lines(item.change)] if item.change else []
        lines += [look.paint("yellow", clean(f"{'':<12} {item.note}"))] if item.note and not look.is_quiet else []
    return "\n".join(lines)


_WORDS: dict[Outcome, str] = {
    "installed": "set up",
    "updated": "brought up to date",
    "removed": "taken out",
    "unchanged": "nothing to do",
    "skipped": "left alone",
    "foreseen": "would be changed",
}


OP = Op(
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
    Input=SetupAgents,
    Output=AgentsSetup,
    run=run,
    plain=plain,
    effect="local",
    exits=(
        (2, "Nobody said yes: there is no terminal to ask on, and --yes was not given."),
        (69, "A file cannot be written."),
        (78, "A file is no valid JSON, or not of the shape that its agent wants."),
    ),
    examples=(
        Example("setup agents", "show the change to each agent's settings, and ask"),
        Example("setup agents --agent claude_code --yes", "only Claude Code, without asking"),
        Example("setup agents --scope project --dry-run", "what would change in this project's settings"),
        Example("setup agents --remove", "take everything out again"),
    ),
)

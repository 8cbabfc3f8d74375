"""The op `setup_shell`: teach a shell to tell its prompts and commands, or take that back."""

import os
from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.errors import BadRequest, Unconfirmed
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.config._shared import where
from termvisor.ops.render.text import Look, clean, clean_lines
from termvisor.settings import Places, environment, nonce
from termvisor.setup import shell_startup_file as start_file
from termvisor.setup.file_diff import Change, difference
from termvisor.setup.shell_integration import Shell, doubt, own_shell, path_of, snippet

Outcome = Literal["installed", "updated", "removed", "unchanged", "printed"]


class SetupShell(Struct, frozen=True, kw_only=True):
    """Which shell, and what to do with its start file."""

    shell: Annotated[
        Shell | None, Meta(description="The shell; without it the one in $SHELL.", extra={"positional": "one"})
    ] = None
    remove: Annotated[bool, Meta(description="Take it out again: the file is as it was before.")] = False
    print: Annotated[bool, Meta(description="Only print what would be put into the file.")] = False
    yes: Annotated[bool, Meta(description="Do it without asking.", extra={"short": ("-y",)})] = False


class ShellSetup(Struct, frozen=True, kw_only=True):
    """``kept`` is where the file as it was before is, ``snippet`` the shell code where it was asked for."""

    shell: Shell
    path: str
    outcome: Outcome
    kept: str | None = None
    warning: str | None = None
    snippet: str = ""


async def run(world: World, wanted: SetupShell) -> ShellSetup:
    if wanted.remove and wanted.print:
        raise BadRequest("--remove and --print do not go together")
    environ = environment()
    shell = wanted.shell or own_shell(environ)
    path, code = path_of(shell, environ), snippet(shell, where(world).nonce_file)
    if wanted.print:
        text = code.decode("utf-8", "replace")
        return ShellSetup(shell=shell, path=path, outcome="printed", snippet=text)
    before = start_file.read(path)
    after = start_file.without_block(before) if wanted.remove else start_file.with_block(before, code)
    change = Change(path, before, after)
    if after != before and not wanted.yes:
        raise Unconfirmed(f"{path} would be changed like this", shown=difference(change))
    return _removed(shell, change) if wanted.remove else _installed(where(world), shell, change)


def _installed(places: Places, shell: Shell, change: Change) -> ShellSetup:
    had_block = start_file.has_block(change.before)
    nonce(places.nonce_file)
    outcome: Outcome = "unchanged"
    if change.after != change.before:
        outcome = "updated" if had_block else "installed"
        start_file.replace(change.path, change.after, kept=None if had_block else change.before)
    kept = start_file.backup(change.path)
    return ShellSetup(
        shell=shell,
        path=change.path,
        outcome=outcome,
        kept=kept if os.path.exists(kept) else None,
        warning=doubt(shell, environment()),
    )


def _removed(shell: Shell, change: Change) -> ShellSetup:
    if change.after == change.before:
        return ShellSetup(shell=shell, path=change.path, outcome="unchanged")
    start_file.replace(change.path, change.after)
    kept = start_file.forget(change.path, change.after)
    return ShellSetup(shell=shell, path=change.path, outcome="removed", kept=kept)


def plain(told: ShellSetup, look: Look) -> str:
    if told.outcome == "printed":
        return clean_lines(told.snippet).rstrip("\n")
    lines = [clean(_said(told))]
    if told.warning:
        lines.append(look.paint("yellow", clean(f"warning: {told.warning}")))
    if told.outcome in ("installed", "updated") and not look.is_quiet:
        lines.append(look.paint("dim", f"New shells have it; in one that runs: exec {told.shell}"))
    return "\n".join(lines)


def _said(told: ShellSetup) -> str:
    kept = f"; the file as it was before is {told.kept}" if told.kept else ""
    return {
        "installed": f"{told.path}: set up{kept}",
        "updated": f"{told.path}: brought up to date{kept}",
        "removed": f"{told.path}: as it was before{kept}",
    }.get(told.outcome, f"{told.path}: nothing to do")


OP = Op(
    name="setup_shell",
    summary="Set up bash, zsh or fish to tell its prompts and commands.",
    doc="""Puts a few lines into the shell's start file, between two marker lines, so that Termvisor knows what a pane
is doing: at a prompt, or running which command since when, and how it ended. The change is shown first. The file as it
was is kept beside it as `.before-visor`; `--remove` takes the lines out again, byte for byte. A second call changes
nothing. The marks prove themselves with a nonce that shells read from Termvisor's data folder; it is in no start file
and in no environment.""",
    Input=SetupShell,
    Output=ShellSetup,
    run=run,
    plain=plain,
    effect="local",
    exits=(
        (2, "Nobody said yes: there is no terminal to ask on, and --yes was not given."),
        (69, "The file cannot be written, or there is no set-up for this shell."),
        (78, "The marker lines in the file are damaged."),
    ),
    examples=(
        Example("setup shell", "show the change to your own shell's start file, and ask"),
        Example("setup shell zsh --yes", "do it for zsh without asking"),
        Example("setup shell --remove", "take it out again"),
        Example("setup shell fish --print", "only print it, to be put in place by hand"),
    ),
)

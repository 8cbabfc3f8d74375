"""The op `setup_shell`: teach a shell to tell its prompts and commands, or take that back."""

import os
from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.errors import BadRequest, ConfirmationRequired
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.config._settings import get_paths
from termvisor.ops.render.text import RenderOptions, sanitize, sanitize_lines
from termvisor.settings import Paths, get_environment, load_nonce
from termvisor.setup import shell_startup_file
from termvisor.setup.shell_integration import (
    Shell,
    build_snippet,
    detect_shell,
    find_login_shell_warning,
    get_startup_path,
)
from termvisor.setup.user_file import FileChange, format_diff

ShellSetupOutcome = Literal["installed", "updated", "removed", "unchanged", "printed"]


class SetupShellArgs(Struct, frozen=True, kw_only=True):
    """Which shell, and what to do with its start file."""

    shell: Annotated[
        Shell | None, Meta(description="The shell; without it the one in $SHELL.", extra={"positional": "one"})
    ] = None
    remove: Annotated[bool, Meta(description="Take it out again: the file is as it was before.")] = False
    print: Annotated[bool, Meta(description="Only print what would be put into the file.")] = False
    yes: Annotated[bool, Meta(description="Do it without asking.", extra={"short": ("-y",)})] = False


class SetupShellResult(Struct, frozen=True, kw_only=True):
    """``kept`` is where the file as it was before is, ``snippet`` the shell code where it was asked for."""

    shell: Shell
    path: str
    outcome: ShellSetupOutcome
    kept: str | None = None
    warning: str | None = None
    snippet: str = ""


async def run(services: Services, args: SetupShellArgs) -> SetupShellResult:
    if args.remove and args.print:
        raise BadRequest("--remove and --print do not go together")
    environ = get_environment()
    shell = args.shell or detect_shell(environ)
    path, code = get_startup_path(shell, environ), build_snippet(shell, get_paths(services).nonce_file)
    if args.print:
        text = code.decode("utf-8", "replace")
        return SetupShellResult(shell=shell, path=path, outcome="printed", snippet=text)
    before = shell_startup_file.read_user_file(path)
    after = shell_startup_file.remove_block(before) if args.remove else shell_startup_file.add_block(before, code)
    change = FileChange(path, before, after)
    if after != before and not args.yes:
        raise ConfirmationRequired(f"{path} would be changed like this", shown=format_diff(change))
    return _remove_block(shell, change) if args.remove else _install_block(get_paths(services), shell, change)


def _install_block(paths: Paths, shell: Shell, change: FileChange) -> SetupShellResult:
    had_block = shell_startup_file.has_block(change.before)
    load_nonce(paths.nonce_file)
    outcome: ShellSetupOutcome = "unchanged"
    if change.after != change.before:
        outcome = "updated" if had_block else "installed"
        shell_startup_file.replace_user_file(
            change.path, change.after, backup_data=None if had_block else change.before
        )
    kept = shell_startup_file.get_backup_path(change.path)
    return SetupShellResult(
        shell=shell,
        path=change.path,
        outcome=outcome,
        kept=kept if os.path.exists(kept) else None,
        warning=find_login_shell_warning(shell, get_environment()),
    )


def _remove_block(shell: Shell, change: FileChange) -> SetupShellResult:
    if change.after == change.before:
        return SetupShellResult(shell=shell, path=change.path, outcome="unchanged")
    shell_startup_file.replace_user_file(change.path, change.after)
    kept = shell_startup_file.remove_redundant_backup(change.path, change.after)
    return SetupShellResult(shell=shell, path=change.path, outcome="removed", kept=kept)


def render_text(result: SetupShellResult, options: RenderOptions) -> str:
    if result.outcome == "printed":
        return sanitize_lines(result.snippet).rstrip("\n")
    lines = [sanitize(_format_outcome(result))]
    if result.warning:
        lines.append(options.paint("yellow", sanitize(f"warning: {result.warning}")))
    if result.outcome in ("installed", "updated") and not options.is_quiet:
        lines.append(options.paint("dim", f"New shells have it; in one that runs: exec {result.shell}"))
    return "\n".join(lines)


def _format_outcome(result: SetupShellResult) -> str:
    kept = f"; the file as it was before is {result.kept}" if result.kept else ""
    return {
        "installed": f"{result.path}: set up{kept}",
        "updated": f"{result.path}: brought up to date{kept}",
        "removed": f"{result.path}: as it was before{kept}",
    }.get(result.outcome, f"{result.path}: nothing to do")


OP = Operation(
    name="setup_shell",
    summary="Set up bash, zsh or fish to tell its prompts and commands.",
    doc="""Puts a few lines into the shell's start file, between two marker lines, so that Termvisor knows what a pane
is doing: at a prompt, or running which command since when, and how it ended. The change is shown first. The file as it
was is kept beside it as `.before-visor`; `--remove` takes the lines out again, byte for byte. A second call changes
nothing. The marks prove themselves with a nonce that shells read from Termvisor's data folder; it is in no start file
and in no environment.""",
    args_type=SetupShellArgs,
    result_type=SetupShellResult,
    run=run,
    render_text=render_text,
    effect="local",
    exit_statuses=(
        (2, "Nobody said yes: there is no terminal to ask on, and --yes was not given."),
        (69, "The file cannot be written, or there is no set-up for this shell."),
        (78, "The marker lines in the file are damaged."),
    ),
    examples=(
        OperationExample("setup shell", "show the change to your own shell's start file, and ask"),
        OperationExample("setup shell zsh --yes", "do it for zsh without asking"),
        OperationExample("setup shell --remove", "take it out again"),
        OperationExample("setup shell fish --print", "only print it, to be put in place by hand"),
    ),
)

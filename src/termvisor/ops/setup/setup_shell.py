"""The operation `setup_shell`: install the shell integration into a startup file, or remove it."""

import os
from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.errors import BadRequest, ConfirmationRequired
from termvisor.model.action.action import WriteFile
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, sanitize, sanitize_lines
from termvisor.settings import Paths, get_environment
from termvisor.setup import user_file
from termvisor.setup.shell_integration import (
    Shell,
    add_block,
    build_snippet,
    detect_shell,
    find_login_shell_warning,
    get_startup_path,
    has_block,
    remove_block,
)
from termvisor.setup.user_file import FileChange, format_diff
from termvisor.system.shell_nonce import load_nonce

ShellSetupOutcome = Literal["installed", "updated", "removed", "unchanged", "printed"]


class SetupShellArgs(Struct, frozen=True, kw_only=True):
    """Choose the shell and the direction."""

    shell: Annotated[Shell | None, Meta(description="The shell; default: $SHELL.", extra={"positional": "one"})] = None
    remove: Annotated[bool, Meta(description="Remove the integration; the file is as before.")] = False
    print: Annotated[bool, Meta(description="Only print the lines for the file.")] = False
    yes: Annotated[bool, Meta(description="Do not ask for confirmation.", extra={"short": ("-y",)})] = False


class SetupShellResult(Struct, frozen=True, kw_only=True):
    """``kept`` is the path of the backup, ``snippet`` the shell code of `--print`."""

    shell: Shell
    path: str
    outcome: ShellSetupOutcome
    kept: str | None = None
    warning: str | None = None
    snippet: str = ""


async def run(services: Services, args: SetupShellArgs) -> SetupShellResult:
    if args.remove and args.print:
        raise BadRequest("--remove and --print cannot be combined")
    environ = get_environment()
    shell = args.shell or detect_shell(environ)
    path, code = get_startup_path(shell, environ), build_snippet(shell, services.paths)
    if args.print:
        text = code.decode("utf-8", "replace")
        return SetupShellResult(shell=shell, path=path, outcome="printed", snippet=text)
    before = user_file.read_user_file(path)
    change = FileChange(path, before, remove_block(before) if args.remove else add_block(before, code))
    if not change.is_empty and not args.yes:
        raise ConfirmationRequired(f"change {path}?", shown=format_diff(change))
    return _remove_block(shell, change) if args.remove else _install_block(services.paths, shell, change)


def _install_block(paths: Paths, shell: Shell, change: FileChange) -> SetupShellResult:
    had_block = has_block(change.before)
    # The snippet holds only the path of the nonce, so the file must exist before a shell reads it.
    load_nonce(paths.nonce_file)
    outcome: ShellSetupOutcome = "unchanged"
    if not change.is_empty:
        outcome = "updated" if had_block else "installed"
        # A file with our block in it is not the user's original, so the first backup is kept.
        user_file.replace_user_file(change.path, change.after, backup_data=None if had_block else change.before)
    backup_path = user_file.get_backup_path(change.path)
    return SetupShellResult(
        shell=shell,
        path=change.path,
        outcome=outcome,
        kept=backup_path if os.path.exists(backup_path) else None,
        warning=find_login_shell_warning(shell, get_environment()),
    )


def _remove_block(shell: Shell, change: FileChange) -> SetupShellResult:
    if change.is_empty:
        return SetupShellResult(shell=shell, path=change.path, outcome="unchanged")
    user_file.replace_user_file(change.path, change.after)
    backup_path = user_file.remove_redundant_backup(change.path, change.after)
    return SetupShellResult(shell=shell, path=change.path, outcome="removed", kept=backup_path)


def render_text(result: SetupShellResult, options: RenderOptions) -> str:
    if result.outcome == "printed":
        return sanitize_lines(result.snippet).rstrip("\n")
    lines = [sanitize(_format_outcome(result))]
    if result.warning:
        lines.append(options.paint("yellow", sanitize(f"warning: {result.warning}")))
    if result.outcome in ("installed", "updated") and not options.is_quiet:
        lines.append(options.paint("dim", f"New shells use it; in a running shell, run: exec {result.shell}"))
    return "\n".join(lines)


def _format_outcome(result: SetupShellResult) -> str:
    backup = f" (backup: {result.kept})" if result.kept and result.outcome != "unchanged" else ""
    return f"{result.path}: {result.outcome}{backup}"


def _list_changes(_services: Services, args: SetupShellArgs) -> tuple[WriteFile, ...]:
    # Without --yes nothing is written: the change is only shown.
    if args.print or not args.yes:
        return ()
    environ = get_environment()
    path = get_startup_path(args.shell or detect_shell(environ), environ)
    return (WriteFile(path=path, why="remove shell integration" if args.remove else "shell integration"),)


OP = Operation(
    name="setup_shell",
    summary="Install the shell integration for bash, zsh or fish.",
    doc="""Adds a few lines to the shell's startup file, between two marker lines, so that Termvisor knows what a pane
is doing: at a prompt, or running a command, since when, and its exit status. The change is shown first. The original is
kept beside it as `.before-visor`; `--remove` removes the lines again, byte for byte. A second call changes nothing. The
marks carry a nonce that shells read from Termvisor's data directory; it is in no startup file and no environment. Each
shell keeps its last state in a private file, so that it is also known when capture begins later. A program needs
approval, also with `--yes`.""",
    run=run,
    render_text=render_text,
    effect="local",
    list_changes=_list_changes,
    exit_statuses=(
        (2, "Not confirmed: no terminal, and --yes was not given."),
        (69, "The file cannot be written, or the shell is not supported."),
        (78, "The marker lines in the file are damaged."),
    ),
    examples=(
        OperationExample("setup shell", "show the change and ask for confirmation"),
        OperationExample("setup shell zsh --yes", "zsh, without confirmation"),
        OperationExample("setup shell --remove", "remove it"),
        OperationExample("setup shell fish --print", "print the lines, to be added by hand"),
    ),
)

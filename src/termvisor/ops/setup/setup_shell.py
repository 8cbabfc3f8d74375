"""The operation `setup_shell`: install the shell integration into a startup file, or remove it."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.errors import BadRequest, ConfirmationRequired, VisorError
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
    build_source_line,
    detect_shell,
    find_skipping_login_file,
    get_script_path,
    get_startup_path,
    has_block,
    list_login_files,
    remove_block,
)
from termvisor.setup.user_file import FileChange
from termvisor.system.files import make_private_folder, write_private_file
from termvisor.system.shell_nonce import load_nonce

ShellSetupOutcome = Literal["installed", "updated", "removed", "unchanged", "printed"]


class SetupShellArgs(Struct, frozen=True, kw_only=True):
    """Choose the shell and the direction."""

    shell: Annotated[Shell | None, Meta(description="The shell; default: $SHELL.", extra={"positional": "one"})] = None
    remove: Annotated[bool, Meta(description="Remove the integration; the files are as before.")] = False
    print: Annotated[bool, Meta(description="Only print the shell code, to be added by hand.")] = False
    no_login: Annotated[bool, Meta(description="Leave the file that login shells read as it is.")] = False
    yes: Annotated[bool, Meta(description="Do not ask for confirmation.", extra={"short": ("-y",)})] = False


class SetupShellResult(Struct, frozen=True, kw_only=True):
    """``kept`` is the path of the backup, ``snippet`` the shell code of `--print`, ``script`` the file that holds it.

    ``login_path`` is the file of login shells, if it was changed too.
    """

    shell: Shell
    path: str
    outcome: ShellSetupOutcome
    kept: str | None = None
    warning: str | None = None
    snippet: str = ""
    script: str = ""
    login_path: str | None = None


class _ShellPlan(Struct, frozen=True, kw_only=True):
    """The changes of one call: our script, the startup file, and the files of login shells."""

    shell: Shell
    script: FileChange
    startup: FileChange
    logins: tuple[FileChange, ...]
    warning: str | None = None

    @property
    def is_empty(self) -> bool:
        return all(change.is_empty for change in (self.script, self.startup, *self.logins))


async def run(services: Services, args: SetupShellArgs) -> SetupShellResult:
    if args.remove and args.print:
        raise BadRequest("--remove and --print cannot be combined")
    environ = get_environment()
    shell = args.shell or detect_shell(environ)
    if args.print:
        text = build_snippet(shell, services.paths).decode("utf-8", "replace")
        path = get_startup_path(shell, environ)
        return SetupShellResult(shell=shell, path=path, outcome="printed", snippet=text)
    plan = _plan_removal(services.paths, shell, environ) if args.remove else _plan_setup(services.paths, shell, args)
    if not plan.is_empty and not args.yes:
        changed = [change.path for change in (plan.startup, *plan.logins) if not change.is_empty] or [plan.script.path]
        raise ConfirmationRequired(f"change {' and '.join(changed)}?", shown=_describe_plan(plan, args.remove))
    return _remove(plan) if args.remove else _install(services.paths, plan)


def _plan_setup(paths: Paths, shell: Shell, args: SetupShellArgs) -> _ShellPlan:
    environ, line = get_environment(), build_source_line(shell, paths)
    startup, script = get_startup_path(shell, environ), get_script_path(shell, paths)
    before = user_file.read_user_file(startup)
    login = find_skipping_login_file(shell, environ)
    logins, warning = [], None
    if login is not None:
        warning = f"tmux starts login shells, which read {login} and skip {startup}: add `. ~/.bashrc` there"
        # A startup file that can be changed is worth more than none, so this one is left to the user.
        with suppress(VisorError):
            content = user_file.read_user_file(login)
            if not args.no_login or has_block(content):
                logins, warning = [FileChange(login, content, add_block(content, line))], None
    return _ShellPlan(
        shell=shell,
        script=FileChange(script, user_file.read_user_file(script), build_snippet(shell, paths)),
        startup=FileChange(startup, before, add_block(before, line)),
        logins=tuple(logins),
        warning=warning,
    )


def _plan_removal(paths: Paths, shell: Shell, environ: Mapping[str, str]) -> _ShellPlan:
    startup, script = get_startup_path(shell, environ), get_script_path(shell, paths)
    before = user_file.read_user_file(startup)
    return _ShellPlan(
        shell=shell,
        script=FileChange(script, user_file.read_user_file(script), None),
        startup=FileChange(startup, before, remove_block(before)),
        logins=tuple(_list_login_removals(list_login_files(shell, environ))),
    )


def _list_login_removals(paths: list[str]) -> Iterator[FileChange]:
    for path in paths:
        # A file that cannot be read, or whose markers are damaged, was not changed by us alone.
        with suppress(VisorError):
            content = user_file.read_user_file(path)
            if has_block(content):
                yield FileChange(path, content, remove_block(content))


def _describe_plan(plan: _ShellPlan, is_removal: bool) -> str:
    """Describe the changes in a line per file. The user's own lines are not shown: none of them changes."""
    if is_removal:
        changed = [change.path for change in (plan.startup, *plan.logins) if not change.is_empty]
        lines = [f"{path}: as it was before" for path in changed]
        lines += [] if plan.script.is_empty else [f"{plan.script.path}: deleted"]
        return "\n".join(map(_shorten_home, lines))
    lines = [f"{plan.script.path}: the shell code (marks prompts and commands)"]
    if not plan.startup.is_empty:
        lines.append(f"{plan.startup.path}: one line that reads it{_describe_backup(plan.startup)}")
    for change in plan.logins:
        if not change.is_empty:
            lines.append(f"{change.path}: the same line, for login shells{_describe_backup(change)}")
    return "\n".join(map(_shorten_home, lines))


def _shorten_home(text: str) -> str:
    home = get_environment().get("HOME", "")
    return text.replace(f"{home}/", "~/") if len(home) > 1 else text


def _describe_backup(change: FileChange) -> str:
    if change.before is None:
        return " (new file)"
    return "" if has_block(change.before) else f" (backup: {user_file.get_backup_path(change.path)})"


def _install(paths: Paths, plan: _ShellPlan) -> SetupShellResult:
    # The script holds only the path of the nonce, so the file must exist before a shell reads it.
    load_nonce(paths.nonce_file)
    had_block = has_block(plan.startup.before)
    # Written before the line that reads it, and only by us: nothing of the user's is in it.
    if not plan.script.is_empty and plan.script.after is not None:
        make_private_folder(os.path.dirname(plan.script.path))
        write_private_file(plan.script.path, plan.script.after)
    _replace_file(plan.startup)
    login_path, warning = None, plan.warning
    for change in plan.logins:
        try:
            _replace_file(change)
            login_path = change.path
        except VisorError as error:
            warning = f"{error.message}; tmux starts login shells, which read it: add `. ~/.bashrc` there"
    backup_path = user_file.get_backup_path(plan.startup.path)
    return SetupShellResult(
        shell=plan.shell,
        path=plan.startup.path,
        outcome="unchanged" if plan.is_empty else "updated" if had_block else "installed",
        kept=backup_path if os.path.exists(backup_path) else None,
        warning=warning,
        script=plan.script.path,
        login_path=login_path,
    )


def _replace_file(change: FileChange) -> None:
    if not change.is_empty:
        # A file with our block in it is not the user's original, so the first backup is kept.
        backup_data = None if has_block(change.before) else change.before
        user_file.replace_user_file(change.path, change.after, backup_data=backup_data)


def _remove(plan: _ShellPlan) -> SetupShellResult:
    path = plan.startup.path
    if plan.is_empty:
        return SetupShellResult(shell=plan.shell, path=path, outcome="unchanged")
    for change in (plan.startup, *plan.logins):
        if not change.is_empty:
            user_file.replace_user_file(change.path, change.after)
            user_file.remove_redundant_backup(change.path, change.after)
    # Deleted last: a startup file that still has the line does nothing without it.
    with suppress(FileNotFoundError):
        os.unlink(plan.script.path)
    backup_path = user_file.get_backup_path(path)
    return SetupShellResult(
        shell=plan.shell,
        path=path,
        outcome="removed",
        kept=backup_path if os.path.lexists(backup_path) else None,
        login_path=next((change.path for change in plan.logins), None),
    )


def render_text(result: SetupShellResult, options: RenderOptions) -> str:
    if result.outcome == "printed":
        return sanitize_lines(result.snippet).rstrip("\n")
    lines = [sanitize(_format_outcome(result))]
    if result.login_path and result.outcome != "unchanged":
        lines.append(sanitize(f"{result.login_path}: {result.outcome}"))
    if result.warning:
        lines.append(options.paint("yellow", sanitize(f"warning: {result.warning}")))
    if result.outcome in ("installed", "updated") and not options.is_quiet:
        lines.append(options.paint("dim", f"New shells use it; in a running shell, run: exec {result.shell}"))
    return "\n".join(lines)


def _format_outcome(result: SetupShellResult) -> str:
    backup = f" (backup: {result.kept})" if result.kept and result.outcome != "unchanged" else ""
    return f"{result.path}: {result.outcome}{backup}"


def _list_changes(services: Services, args: SetupShellArgs) -> tuple[WriteFile, ...]:
    # Without --yes nothing is written: the change is only shown.
    if args.print or not args.yes:
        return ()
    environ = get_environment()
    shell = args.shell or detect_shell(environ)
    login = find_skipping_login_file(shell, environ)
    paths = [get_startup_path(shell, environ)]
    if args.remove:
        paths += [change.path for change in _list_login_removals(list_login_files(shell, environ))]
    elif login is not None and not args.no_login:
        paths.append(login)
    why = "remove shell integration" if args.remove else "shell integration"
    return tuple(WriteFile(path=path, why=why) for path in paths)


OP = Operation(
    name="setup_shell",
    summary="Install the shell integration for bash, zsh or fish.",
    doc="""Adds one line to the shell's startup file, between two marker lines. It reads a script in Termvisor's data
directory, so that Termvisor knows what a pane is doing: at a prompt, or running a command, since when, and its exit
status. The changes are shown first. tmux starts login shells; if a login bash does not read `~/.bashrc`, its file gets
the same line, unless `--no-login` is given. The originals are kept beside the files as `.before-visor`; `--remove`
removes the lines again, byte for byte. A second call changes nothing. The marks carry a nonce that shells read from
Termvisor's data directory; it is in no startup file and no environment. Each shell keeps its last state in a private
file, so that it is also known when capture begins later. A program needs approval, also with `--yes`.""",
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

"""Operation `run`: run a command in a terminal of its own and keep track of it."""

import base64
import os
from typing import Annotated

import msgspec
from msgspec import Meta

from termvisor.errors import BadRequest, TimedOut
from termvisor.model.action.action import RunJob
from termvisor.model.job import JobPlace
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.input import _action_operation
from termvisor.ops.jobs._job_item import JobItem, build_job_item, get_job_exit_status, render_job
from termvisor.ops.jobs._job_wait import wait_for_job
from termvisor.ops.panes.spawn import parse_environment
from termvisor.ops.render.text import RenderOptions
from termvisor.regex.dialect import find_pattern_problem

_MAX_NAME_CHARS = 100
_SHELL = ("bash", "-o", "pipefail", "-lc")
_SHELL_CHARACTERS = frozenset(" \t\n|&;<>()$`\\\"'*?[]#~=%!{}")


class RunArgs(_action_operation.ActionArgs, frozen=True, kw_only=True):
    """The command, where to run it, and how to watch it."""

    command: Annotated[
        tuple[str, ...],
        Meta(
            description="Program and arguments after --, or one shell line.",
            extra={"positional": "rest"},
            min_length=1,
        ),
    ]
    place: Annotated[
        JobPlace | None,
        Meta(description="Its terminal: an own PTY, the private tmux server, or a window of a session."),
    ] = None
    session: Annotated[str, Meta(description="Session for --place session, made if it is missing.", max_length=100)] = (
        ""
    )
    server: Annotated[str, Meta(description="tmux server of that session, if there are several.")] = ""
    cwd: Annotated[str, Meta(description="Working directory; default: yours.", extra={"is_path": True})] = "."
    env: Annotated[tuple[str, ...], Meta(description="Environment variable NAME=value; may be repeated.")] = ()
    name: Annotated[str, Meta(description="Name of the job, for lists and statistics.", max_length=_MAX_NAME_CHARS)] = (
        ""
    )
    shell: Annotated[bool, Meta(description="Run the words as one line of `bash -lc` with pipefail.")] = False
    exact: Annotated[bool, Meta(description="Run a single word as a program; `--` implies it.")] = False
    interactive: Annotated[bool, Meta(description="Keep a shell in the terminal afterwards.")] = False
    no_interactive: Annotated[bool, Meta(description="Close the window afterwards, also in --place session.")] = False
    timeout: Annotated[
        Annotated[float, Meta(ge=0, le=31_536_000)] | None,
        Meta(description="Stop it after this many seconds. 0: never."),
    ] = None
    detect: Annotated[tuple[str, ...], Meta(description="Pattern of a prompt at which it waits; may be repeated.")] = ()
    redact: Annotated[tuple[str, ...], Meta(description="Pattern of a secret in its output; may be repeated.")] = ()
    extractor: Annotated[str, Meta(description="Use the prompts and secrets of this extractor.")] = ""
    quiet_after: Annotated[
        float, Meta(description="Report it as waiting after this many idle seconds (a guess). 0: never.", ge=0)
    ] = 0.0
    wait: Annotated[bool, Meta(description="Wait until it has ended or waits for input.")] = False
    timeout_secs: Annotated[float, Meta(description="Give up --wait after this many seconds.", ge=0)] = 600.0


class RunResult(_action_operation.ActionResult, frozen=True, kw_only=True):
    """``job`` is the started job; its ``pane`` has the log. With --wait it is what the job came to."""

    job: JobItem | None = None


async def build_request(services: Services, args: RunArgs) -> _action_operation.ActionRequest:
    if args.interactive and args.no_interactive:
        raise BadRequest("--interactive and --no-interactive exclude each other")
    settings = services.get_settings()
    place = args.place or ("session" if args.session else settings.jobs_place)
    if args.session and place != "session":
        raise BadRequest("--session requires --place session")
    argv = build_argv(args)
    job_class = services.jobs.find_class(" ".join(argv))
    action = RunJob(
        command=tuple(word.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for word in argv),
        place=place,
        session=(args.session or settings.jobs_session) if place == "session" else "",
        server=args.server,
        cwd="" if args.cwd == "." else args.cwd,
        env=parse_environment(args.env),
        name=args.name,
        is_interactive=args.interactive or (place == "session" and not args.no_interactive),
        timeout=args.timeout if args.timeout is not None else (job_class.timeout if job_class else 0.0),
        options=_encode_options(services, args, argv, job_class.retries if job_class else 0),
    )
    return _action_operation.ActionRequest(action=action, preconditions=_action_operation.build_preconditions(args))


def build_argv(args: RunArgs) -> tuple[str, ...]:
    """Return the command to execute: one word that only a shell can run is a line for bash. Raises BadRequest."""
    if args.shell and args.exact:
        raise BadRequest("--shell and --exact exclude each other", hint="Words after `--` run as they are.")
    if not args.command[0] or any("\0" in word for word in args.command):
        raise BadRequest("the command is empty or contains a NUL character")
    is_line = len(args.command) == 1 and not _SHELL_CHARACTERS.isdisjoint(args.command[0])
    if args.shell or (is_line and not args.exact):
        return (*_SHELL, " ".join(args.command))
    return args.command


def _encode_options(services: Services, args: RunArgs, argv: tuple[str, ...], retries: int) -> str:
    extractor = services.jobs.find_extractor(args.extractor) if args.extractor else None
    detectors = (*args.detect, *(extractor.detectors if extractor else ()))
    redactors = (*args.redact, *(extractor.redactors if extractor else ()))
    for option, patterns in (("--detect", detectors), ("--redact", redactors)):
        for pattern in patterns:
            if problem := find_pattern_problem(pattern):
                raise BadRequest(f"{option}: {pattern[:200]!r} is not a supported regular expression: {problem}")
    options: dict[str, object] = {
        "detectors": detectors,
        "redactors": redactors,
        "retries": retries,
        "quiet_after": args.quiet_after,
        "extractor": args.extractor,
    }
    if any(not _is_utf8(word) for word in argv):
        options["exact_argv"] = tuple(base64.b64encode(os.fsencode(word)).decode() for word in argv)
    return msgspec.json.encode({name: value for name, value in options.items() if value}).decode()


def _is_utf8(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


async def execute(services: Services, args: RunArgs, request: _action_operation.ActionRequest) -> RunResult:
    result, outcome = await _action_operation.execute_action(services, args, request)
    if outcome is None or outcome.job is None:
        return _action_operation.extend_result(result, RunResult)
    job = await services.jobs.find(outcome.job)
    if args.wait:
        try:
            job = await wait_for_job(services, job, ("finished", "lost", "waiting_for_input"), args.timeout_secs)
        except TimedOut:
            job = await services.jobs.find(outcome.job)
    return _action_operation.extend_result(result, RunResult, job=build_job_item(job, services.clock.now()))


def render_text(result: RunResult, options: RenderOptions) -> str:
    if result.job is None:
        return _action_operation.render_action_result(result, options)
    return render_job(result.job, options)


def get_exit_status(result: RunResult) -> int:
    return _action_operation.get_exit_status(result) if result.job is None else get_job_exit_status(result.job)


OP = _action_operation.declare_action(
    name="run",
    robot_name="run",
    summary="Run a command in its own terminal and follow it to its end.",
    doc="""The result has the job's id: `visor job wait`, `status`, `send`, `harvest` and `stop` take it. Words after
`--` are executed as they are, byte for byte; no shell parses them. A single word with blanks or shell characters, or
`--shell`, is a line for `bash -lc` with `pipefail`. The command starts once its output is recorded, so that no byte is
lost, and runs on when the daemon is restarted or killed.

Without `--place` the setting `jobs.place` counts. `session` opens a window `auto:<id>` behind the last one of a tmux
session, without touching what is shown there; a shell stays in it afterwards unless `--no-interactive` is given.

`--detect` names prompts of programs that read keys without the terminal's line editing; a program that reads its
terminal is recognized without it. `--redact` and secrets of an `--extractor` are masked in everything that is stored.

A `[[job_class]]` of the settings may give a command a timeout, and retries if it fails. Only a command's redacted text
is stored, never its environment.""",
    args_type=RunArgs,
    build_request=build_request,
    execute=execute,
    result_type=RunResult,
    render_text=render_text,
    get_exit_status=get_exit_status,
    accepts_argument_bytes=True,
    option_of_dashes="--exact",
    exit_statuses=(
        (0, "Started; with --wait: the exit status of the command, 128 + n for signal n."),
        (6, "With --wait: lost, its end is unknown."),
        (77, "Not executed: denied by the policy, or requires approval."),
    ),
    examples=(
        OperationExample("run 'make test | tee test.log'", "run a shell line"),
        OperationExample("run --wait -- make test", "run a program and wait for its end"),
        OperationExample("run --name build --timeout 600 -- make -j4", "name it and limit its time"),
        OperationExample("run --place session --session work -- htop", "run it in a window of your session"),
        OperationExample("robot run --detect 'Continue\\?' -- ./install.sh", "recognize its prompt, as JSON"),
    ),
)

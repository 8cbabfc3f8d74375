"""The operation `policy_test`: validate a policy file before it is used."""

import os
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.system.worker import call_worker


class PolicyTestArgs(Struct, frozen=True, kw_only=True):
    """Choose the file."""

    file: Annotated[
        str | None,
        Meta(
            description="The file; default: `policy.toml` in the config directory.",
            extra={"positional": "one", "is_path": True},
        ),
    ] = None


class PolicyTestResult(Struct, frozen=True, kw_only=True):
    """``exists`` is false if there is no file and the defaults apply; an invalid file is an error."""

    path: str
    exists: bool


async def run(services: Services, args: PolicyTestArgs) -> PolicyTestResult:
    path = args.file or services.paths.policy_file
    # A file that was named must exist, but `policy.toml` is optional.
    exists = args.file is not None or os.path.exists(path)
    if exists:
        # Runs in a worker process, so that clients never load the pattern engines.
        await call_worker(
            "termvisor.policy.policy_file:check_policy_file",
            (path,),
            returns=type(None),
            timeout_s=60.0,
            name="policy check",
        )
    return PolicyTestResult(path=path, exists=exists)


def render_text(result: PolicyTestResult, options: RenderOptions) -> str:
    return sanitize(f"{result.path} ok" if result.exists else f"{result.path} does not exist; the defaults apply")


OP = Operation(
    name="policy_test",
    summary="Validate a policy file.",
    doc="""Checks the file like the daemon and reports line, key and the probable correction. The file is not activated:
copy it to the path that `visor policy show` prints.""",
    run=run,
    render_text=render_text,
    effect="local",
    exit_statuses=((0, "The file is valid, or does not exist."), (78, "The file is invalid or cannot be read.")),
    examples=(
        OperationExample("policy test new-policy.toml", "before you activate it"),
        OperationExample("policy test", "the active file"),
    ),
)

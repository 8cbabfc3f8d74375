"""The op `policy_test`: whether a policy file is right, before it is in force."""

import os
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.config._settings import get_paths
from termvisor.ops.policy._policy_check_worker import check_policy_file
from termvisor.ops.policy.policy_show import POLICY_FILE_NAME
from termvisor.ops.render.text import RenderOptions, sanitize


class PolicyTestArgs(Struct, frozen=True, kw_only=True):
    """Which file."""

    file: Annotated[
        str | None,
        Meta(
            description="The file; without it, the `policy.toml` beside your config file.",
            extra={"positional": "one", "is_path": True},
        ),
    ] = None


class PolicyTestResult(Struct, frozen=True, kw_only=True):
    """A file that is wrong is an error. ``exists`` is false where there is none and the defaults hold."""

    path: str
    exists: bool


async def run(services: Services, args: PolicyTestArgs) -> PolicyTestResult:
    path = args.file or f"{get_paths(services).config_dir}/{POLICY_FILE_NAME}"
    exists = args.file is not None or os.path.exists(path)
    if exists:
        await check_policy_file(path)
    return PolicyTestResult(path=path, exists=exists)


def render_text(result: PolicyTestResult, options: RenderOptions) -> str:
    return sanitize(f"{result.path} is right." if result.exists else f"There is no {result.path}: the defaults hold.")


OP = Operation(
    name="policy_test",
    summary="Say what is wrong with a policy file.",
    doc="""Checks the file as the daemon would and names the line, the key and what was probably meant. Nothing is taken
over: copy it to where `visor policy show` says once it is right.""",
    args_type=PolicyTestArgs,
    result_type=PolicyTestResult,
    run=run,
    render_text=render_text,
    effect="local",
    exit_statuses=((0, "The file is right, or there is none."), (78, "It is wrong, or cannot be read.")),
    examples=(
        OperationExample("policy test new-policy.toml", "before you put it in force"),
        OperationExample("policy test", "the file that is in force"),
    ),
)

"""The op `policy_test`: whether a policy file is right, before it is in force."""

import os
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.config._shared import where
from termvisor.ops.policy._check_worker import check
from termvisor.ops.policy.policy_show import NAME
from termvisor.ops.render.text import Look, clean


class PolicyTest(Struct, frozen=True, kw_only=True):
    """Which file."""

    file: Annotated[
        str | None,
        Meta(
            description="The file; without it, the `policy.toml` beside your config file.",
            extra={"positional": "one", "is_path": True},
        ),
    ] = None


class PolicyTested(Struct, frozen=True, kw_only=True):
    """A file that is wrong is an error. ``exists`` is false where there is none and the defaults hold."""

    path: str
    exists: bool


async def run(world: World, wanted: PolicyTest) -> PolicyTested:
    path = wanted.file or f"{where(world).config_dir}/{NAME}"
    exists = wanted.file is not None or os.path.exists(path)
    if exists:
        await check(path)
    return PolicyTested(path=path, exists=exists)


def plain(tested: PolicyTested, look: Look) -> str:
    return clean(f"{tested.path} is right." if tested.exists else f"There is no {tested.path}: the defaults hold.")


OP = Op(
    name="policy_test",
    summary="Say what is wrong with a policy file.",
    doc="""Checks the file as the daemon would and names the line, the key and what was probably meant. Nothing is taken
over: copy it to where `visor policy show` says once it is right.""",
    Input=PolicyTest,
    Output=PolicyTested,
    run=run,
    plain=plain,
    effect="local",
    exits=((0, "The file is right, or there is none."), (78, "It is wrong, or cannot be read.")),
    examples=(
        Example("policy test new-policy.toml", "before you put it in force"),
        Example("policy test", "the file that is in force"),
    ),
)

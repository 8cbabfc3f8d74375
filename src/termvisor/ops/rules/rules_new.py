"""The op `rules_new`: a file to start a rule of one's own from."""

import os
import re
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest, Conflict, Unavailable
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.render.text import Look, clean
from termvisor.ops.rules._rule_item import blanks
from termvisor.settings import make_private

_ID = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+", re.ASCII)
_PACK = re.compile(r"[a-z][a-z0-9_-]*(?:\.[a-z0-9_-]+)*", re.ASCII)
_LONGEST = 120


class RuleStart(Struct, frozen=True, kw_only=True):
    """What it is called, and where it goes."""

    id: Annotated[
        str,
        Meta(description="Its id: words joined by dots, such as `deploy.rollout.stuck`.", extra={"positional": "one"}),
    ]
    pack: Annotated[str, Meta(description="The pack to put it in; made where there is none.")] = "org.local"
    agent: Annotated[str, Meta(description="Only in panes of this agent.", pattern="^([a-z][a-z0-9_]*)?$")] = ""


class RuleMade(Struct, frozen=True, kw_only=True):
    path: str
    pack: str


async def run(world: World, wanted: RuleStart) -> RuleMade:
    if not _ID.fullmatch(wanted.id) or len(wanted.id) > _LONGEST:
        raise BadRequest(f"{wanted.id[:200]!r} is no id of a rule", hint="Words of a-z, 0-9 and _, joined by dots.")
    if not _PACK.fullmatch(wanted.pack) or len(wanted.pack) > _LONGEST or wanted.pack.startswith("core."):
        raise BadRequest(
            f"{wanted.pack[:200]!r} is no name for a pack of yours",
            hint="Words of a-z, 0-9, - and _, joined by dots; `core.` is ours.",
        )
    (card, about), (path, text) = blanks(world, wanted.pack, wanted.id, wanted.agent)
    make_private(os.path.dirname(path))
    _write(card, about, is_there_fine=True)
    _write(path, text)
    return RuleMade(path=path, pack=wanted.pack)


def _write(path: str, text: str, *, is_there_fine: bool = False) -> None:
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        if not is_there_fine:
            raise Conflict(f"{path} exists", hint="Edit it, or choose another id.") from None
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}") from error


def plain(made: RuleMade, look: Look) -> str:
    return clean(f"{made.path} written: fill it in, then `visor rules lint` and `visor config reload`")


OP = Op(
    name="rules_new",
    summary="Write a file to start a rule of your own from.",
    doc="""It is not in force before it is filled in and `visor rules lint` finds it right. A rule with the id
of one of ours replaces that one. An existing file is never overwritten.""",
    Input=RuleStart,
    Output=RuleMade,
    run=run,
    plain=plain,
    effect="local",
    exits=((75, "The file exists."),),
    examples=(
        Example("rules new deploy.rollout.stuck", "in your pack org.local"),
        Example("rules new codex.usage.reached --agent codex", "your own in place of ours"),
    ),
)

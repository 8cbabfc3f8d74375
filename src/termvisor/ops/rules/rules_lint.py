"""The op `rules_lint`: whether rules are right, each proven by its own texts."""

import os
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import NotFound
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.render.text import Look, clean, counted
from termvisor.ops.rules._rule_item import Trouble, linted


class LintRules(Struct, frozen=True, kw_only=True):
    """What to look at."""

    path: Annotated[
        str | None,
        Meta(
            description="A rule's file, a pack, or a folder of packs; without it, all packs of this instance.",
            extra={"positional": "one", "is_path": True},
        ),
    ] = None


class RulesLinted(Struct, frozen=True, kw_only=True):
    """``rules`` counts those that are right; ``troubles`` is what is wrong with the others. ``doubts`` are of right
    ones, which name an agent or a workflow that looks mistyped.
    """

    rules: int
    packs: tuple[str, ...]
    troubles: tuple[Trouble, ...]
    doubts: tuple[Trouble, ...]


async def run(world: World, wanted: LintRules) -> RulesLinted:
    if wanted.path is not None and not os.path.exists(wanted.path):
        raise NotFound(f"there is no {wanted.path}", hint="Name a rule's file, a pack, or a folder of packs.")
    found = await linted(world, wanted.path)
    return RulesLinted(rules=len(found.rules), packs=found.packs, troubles=found.troubles, doubts=found.doubts)


def plain(told: RulesLinted, look: Look) -> str:
    wrong = [clean(str(trouble)) for trouble in told.troubles]
    right = f"{counted(told.rules, 'rule')} {'is' if told.rules == 1 else 'are'} right"
    odd = [clean(f"perhaps: {doubt}") for doubt in told.doubts]
    return "\n".join([*wrong, *odd, f"{right}, {counted(len(wrong), 'trouble')}."])


def _status(told: RulesLinted) -> int:
    return 78 if told.troubles else 0


OP = Op(
    name="rules_lint",
    summary="Say what is wrong with rules.",
    doc="""Every file is read as the daemon would read it, and every rule must find its hits, with their captures, and
leave its misses alone. Patterns that some text would make slow are refused. A rule with a trouble is not in force;
all others are.""",
    Input=LintRules,
    Output=RulesLinted,
    run=run,
    plain=plain,
    effect="local",
    exit_status=_status,
    exits=((0, "All are right."), (78, "Something is wrong; each trouble names its file, line and key.")),
    examples=(
        Example("rules lint", "all packs, also your own"),
        Example("rules lint ~/.config/termvisor/packs/org.local", "one pack"),
    ),
)

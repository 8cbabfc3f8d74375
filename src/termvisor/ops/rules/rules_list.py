"""The op `rules_list`: the rules in force, where each is from, and what it tells."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.model.detection.rule import Scope
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.panes._listing import Listing, counts, filters
from termvisor.ops.render.text import Column, Look, clean, counted, table
from termvisor.ops.rules._rule_item import RuleItem, check_known, item, packs_of


class ListRules(Struct, frozen=True, kw_only=True):
    """Which rules."""

    pack: Annotated[str | None, Meta(description="Only those of this pack, such as `core.shell`.")] = None
    agent: Annotated[str | None, Meta(description="Only those about this agent.")] = None
    scope: Annotated[Scope | None, Meta(description="Only those that look here.")] = None


class PackItem(Struct, frozen=True, kw_only=True):
    """``rules`` counts those that are in force."""

    name: str
    version: str
    origin: str
    folder: str
    rules: int


class RulesSummary(Struct, frozen=True, kw_only=True):
    rules: int
    disabled: int
    by_pack: dict[str, int]


class RuleListing(Listing, frozen=True, kw_only=True):
    """``packs`` in the order in which they are loaded; ``troubles`` are what could not be, and why."""

    summary: RulesSummary
    packs: tuple[PackItem, ...]
    troubles: tuple[str, ...]
    items: tuple[RuleItem, ...]


async def run(world: World, wanted: ListRules) -> RuleListing:
    packs, off = await packs_of(world)
    check_known("agent", wanted.agent, (rule.agent for rule in packs.rules))
    check_known("pack", wanted.pack, (pack.name for pack in packs.packs))
    given = filters(pack=wanted.pack, agent=wanted.agent, scope=wanted.scope)
    items = tuple(
        item(rule, off) for rule in packs.rules if all(getattr(rule, name) == value for name, value in given.items())
    )
    held = counts(rule.pack for rule in packs.rules if rule.id not in off)
    return RuleListing(
        generated_at=iso(world.clock.now()),
        filters=given,
        summary=RulesSummary(
            rules=len(items),
            disabled=sum(one.is_disabled for one in items),
            by_pack=counts(one.pack for one in items),
        ),
        packs=tuple(
            PackItem(
                name=pack.name,
                version=pack.version,
                origin=pack.origin,
                folder=pack.folder if pack.origin != "builtin" else "",
                rules=held.get(pack.name, 0),
            )
            for pack in packs.packs
        ),
        troubles=tuple(map(str, packs.troubles)),
        items=items,
    )


COLUMNS = (
    Column("RULE", lambda one: one.id, style="cyan"),
    Column("SCOPE", lambda one: one.scope, is_extra=True),
    Column("SEVERITY", lambda one: one.severity),
    Column("EVENT", lambda one: one.event or "-"),
    Column("ON", lambda one: "no" if one.is_disabled else "yes"),
    Column("PACK", lambda one: one.pack, is_extra=True),
    Column("WHY", lambda one: one.why, may_shrink=True, is_extra=True, narrowest=24),
)


def plain(listing: RuleListing, look: Look) -> str:
    rows = table(COLUMNS, listing.items, look)
    if look.is_quiet:
        return rows
    told = [f"{look.paint('red', 'trouble:')} {clean(trouble)}" for trouble in listing.troubles]
    packs = counted(len(listing.summary.by_pack), "pack")
    told.append(f"{counted(listing.summary.rules, 'rule')} of {packs}, {listing.summary.disabled} switched off")
    return "\n".join([*([rows, ""] if rows else []), *told])


OP = Op(
    name="rules_list",
    aliases=("rules",),
    summary="The rules that say what texts mean.",
    doc="""Each is a small file in a pack. What is wrong with a file is told below the list; all others are in force.
The setting `patterns_disabled` switches rules off; a rule of your own with the same id replaces one.""",
    Input=ListRules,
    Output=RuleListing,
    run=run,
    plain=plain,
    effect="local",
    examples=(
        Example("rules list", "all of them"),
        Example("rules list --agent codex --scope line", "those that read single lines of Codex"),
        Example("robot rules list --pack core.shell", "as JSON"),
    ),
)

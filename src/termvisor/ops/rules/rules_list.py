"""The op `rules_list`: the rules in force, where each is from, and what it tells."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.model.detection.rule import RuleScope
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._listing import BaseListing, build_filters, count_values
from termvisor.ops.render.text import RenderOptions, TableColumn, pluralize, render_table, sanitize
from termvisor.ops.rules._rule_packs import RuleItem, build_rule_item, check_known_name, load_all_packs


class RulesListArgs(Struct, frozen=True, kw_only=True):
    """Which rules."""

    pack: Annotated[str | None, Meta(description="Only those of this pack, such as `core.shell`.")] = None
    agent: Annotated[str | None, Meta(description="Only those about this agent.")] = None
    scope: Annotated[RuleScope | None, Meta(description="Only those that look here.")] = None


class RulePackItem(Struct, frozen=True, kw_only=True):
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


class RuleListing(BaseListing, frozen=True, kw_only=True):
    """``packs`` in the order in which they are loaded; ``troubles`` are what could not be, and why."""

    summary: RulesSummary
    packs: tuple[RulePackItem, ...]
    troubles: tuple[str, ...]
    items: tuple[RuleItem, ...]


async def run(services: Services, args: RulesListArgs) -> RuleListing:
    packs, off = await load_all_packs(services)
    check_known_name("agent", args.agent, (rule.agent for rule in packs.rules))
    check_known_name("pack", args.pack, (pack.name for pack in packs.packs))
    given = build_filters(pack=args.pack, agent=args.agent, scope=args.scope)
    items = tuple(
        build_rule_item(rule, off)
        for rule in packs.rules
        if all(getattr(rule, name) == value for name, value in given.items())
    )
    held = count_values(rule.pack for rule in packs.rules if rule.id not in off)
    return RuleListing(
        generated_at=format_timestamp(services.clock.now()),
        filters=given,
        summary=RulesSummary(
            rules=len(items),
            disabled=sum(one.is_disabled for one in items),
            by_pack=count_values(one.pack for one in items),
        ),
        packs=tuple(
            RulePackItem(
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
    TableColumn("RULE", lambda one: one.id, style="cyan"),
    TableColumn("SCOPE", lambda one: one.scope, is_optional=True),
    TableColumn("SEVERITY", lambda one: one.severity),
    TableColumn("EVENT", lambda one: one.event or "-"),
    TableColumn("ON", lambda one: "no" if one.is_disabled else "yes"),
    TableColumn("PACK", lambda one: one.pack, is_optional=True),
    TableColumn("WHY", lambda one: one.why, can_shrink=True, is_optional=True, min_width=24),
)


def render_text(result: RuleListing, options: RenderOptions) -> str:
    rows = render_table(COLUMNS, result.items, options)
    if options.is_quiet:
        return rows
    told = [f"{options.paint('red', 'trouble:')} {sanitize(trouble)}" for trouble in result.troubles]
    packs = pluralize(len(result.summary.by_pack), "pack")
    told.append(f"{pluralize(result.summary.rules, 'rule')} of {packs}, {result.summary.disabled} switched off")
    return "\n".join([*([rows, ""] if rows else []), *told])


OP = Operation(
    name="rules_list",
    aliases=("rules",),
    summary="The rules that say what texts mean.",
    doc="""Each is a small file in a pack. What is wrong with a file is told below the list; all others are in force.
The setting `patterns_disabled` switches rules off; a rule of your own with the same id replaces one.""",
    args_type=RulesListArgs,
    result_type=RuleListing,
    run=run,
    render_text=render_text,
    effect="local",
    examples=(
        OperationExample("rules list", "all of them"),
        OperationExample("rules list --agent codex --scope line", "those that read single lines of Codex"),
        OperationExample("robot rules list --pack core.shell", "as JSON"),
    ),
)

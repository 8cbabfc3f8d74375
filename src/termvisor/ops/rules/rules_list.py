"""The operation `rules_list`: list detection rules and rule packs."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.model.detection.rule import RuleScope
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import BaseListing, build_filters, copy_fields, count_values
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, pluralize, sanitize
from termvisor.ops.rules._rule_packs import RuleItem, build_rule_item, check_known_name, load_all_packs


class RulesListArgs(Struct, frozen=True, kw_only=True):
    """Choose the rules."""

    pack: Annotated[str | None, Meta(description="Only rules of this pack, such as `core.shell`.")] = None
    agent: Annotated[str | None, Meta(description="Only rules for this agent.")] = None
    scope: Annotated[RuleScope | None, Meta(description="Only rules with this scope.")] = None


class RulePackItem(Struct, frozen=True, kw_only=True):
    """``rules`` counts the active ones."""

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
    """``packs`` are in load order; ``troubles`` are the errors of rules that could not be loaded."""

    summary: RulesSummary
    packs: tuple[RulePackItem, ...]
    troubles: tuple[str, ...]
    items: tuple[RuleItem, ...]


async def run(services: Services, args: RulesListArgs) -> RuleListing:
    packs, disabled_ids = await load_all_packs(services)
    # A misspelled filter would look like a pack or an agent without rules.
    check_known_name("agent", args.agent, (rule.agent for rule in packs.rules))
    check_known_name("pack", args.pack, (pack.name for pack in packs.packs))
    filters = build_filters(pack=args.pack, agent=args.agent, scope=args.scope)
    items = tuple(
        build_rule_item(rule, disabled_ids)
        for rule in packs.rules
        if all(getattr(rule, name) == value for name, value in filters.items())
    )
    active = count_values(rule.pack for rule in packs.rules if rule.id not in disabled_ids)
    return RuleListing(
        generated_at=format_timestamp(services.clock.now()),
        filters=filters,
        summary=RulesSummary(
            rules=len(items),
            disabled=sum(item.is_disabled for item in items),
            by_pack=count_values(item.pack for item in items),
        ),
        packs=tuple(
            copy_fields(
                RulePackItem,
                pack,
                folder=pack.folder if pack.origin != "builtin" else "",
                rules=active.get(pack.name, 0),
            )
            for pack in packs.packs
        ),
        troubles=tuple(map(str, packs.troubles)),
        items=items,
    )


COLUMNS = (
    TableColumn("RULE", lambda item: item.id, style="cyan"),
    TableColumn("SCOPE", lambda item: item.scope, worth=2),
    TableColumn("SEVERITY", lambda item: item.severity, worth=7),
    TableColumn("EVENT", lambda item: item.event or "-", can_shrink=True, min_width=14, worth=3),
    TableColumn("ENABLED", lambda item: "no" if item.is_disabled else "yes", worth=4),
    TableColumn("PACK", lambda item: item.pack, worth=1),
    TableColumn("WHY", lambda item: item.why, can_shrink=True, min_width=24),
)


def render_text(result: RuleListing, options: RenderOptions) -> str:
    rows = render_table(COLUMNS, result.items, options)
    if options.is_quiet:
        return rows
    footer = [f"{options.paint('red', 'error:')} {sanitize(problem)}" for problem in result.troubles]
    packs = pluralize(len(result.summary.by_pack), "pack")
    footer.append(f"{pluralize(result.summary.rules, 'rule')} in {packs}, {result.summary.disabled} disabled")
    return "\n".join([*([rows, ""] if rows else []), *footer])


OP = Operation(
    name="rules_list",
    aliases=("rules",),
    summary="List detection rules.",
    doc="""Each rule is a small file in a pack. Errors in files are listed below the table; all other rules are active.
The setting `patterns_disabled` disables rules; a rule of your own with the same id replaces a built-in one.""",
    run=run,
    render_text=render_text,
    effect="local",
    examples=(
        OperationExample("rules list", "all rules"),
        OperationExample("rules list --agent codex --scope line", "rules for single lines of Codex"),
        OperationExample("robot rules list --pack core.shell", "as JSON"),
    ),
)

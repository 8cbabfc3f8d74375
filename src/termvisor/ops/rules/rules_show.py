"""The op `rules_show`: everything about one rule, with the texts that prove it."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.detection.rule import MatchingExample, NonMatchingExample
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, render_code_block, sanitize, sanitize_lines
from termvisor.ops.rules._rule_packs import find_rule, load_all_packs


class RulesShowArgs(Struct, frozen=True, kw_only=True):
    """Which rule."""

    id: Annotated[str, Meta(description="Its id, such as `codex.usage.reached`.", extra={"positional": "find_rule"})]


class RulesShowResult(Struct, frozen=True, kw_only=True):
    """``replaces`` names the packs whose rule of this id is not in force because of it."""

    id: str
    pack: str
    since: str
    agent: str
    versions: str
    scope: str
    part: str
    anchors: tuple[str, ...]
    pattern: str
    severity: str
    event: str
    state: str | None
    flag: str | None
    confidence: float
    cooldown: float
    remedy: str
    why: str
    hits: tuple[MatchingExample, ...]
    misses: tuple[NonMatchingExample, ...]
    is_disabled: bool
    replaces: tuple[str, ...]


async def run(services: Services, args: RulesShowArgs) -> RulesShowResult:
    packs, off = await load_all_packs(services)
    rule = find_rule(packs, args.id)
    names = [name for name in RulesShowResult.__struct_fields__ if name not in ("is_disabled", "replaces")]
    return RulesShowResult(
        **{name: getattr(rule, name) for name in names},
        is_disabled=rule.id in off,
        replaces=packs.replaced.get(rule.id, ()),
    )


def render_text(result: RulesShowResult, options: RenderOptions) -> str:
    facts = [
        ("pack", result.pack),
        ("replaces", " ".join(result.replaces)),
        ("agent", result.agent or "any pane"),
        ("versions", result.versions),
        ("scope", f"{result.scope} {result.part}".strip()),
        ("severity", result.severity),
        ("event", result.event),
        ("state", result.state or ""),
        ("flag", result.flag or ""),
        ("remedy", result.remedy),
        ("cooldown", f"{result.cooldown:g}s" if result.event else ""),
    ]
    head = f"{options.paint('cyan', sanitize(result.id))}{'  (switched off)' if result.is_disabled else ''}\n{sanitize(result.why)}"
    table = "\n".join(f"{name:9} {sanitize(value)}" for name, value in facts if value)
    return "\n\n".join(
        [
            head,
            render_code_block(table, options),
            render_code_block(sanitize(result.pattern), options),
            *_format_texts(result, options),
        ]
    )


def _format_texts(result: RulesShowResult, options: RenderOptions) -> list[str]:
    """What proves it, each below what it stands for."""
    shown = [(f"finds{_format_captures(hit)}", hit.text) for hit in result.hits]
    shown += [(f"leaves alone{f': {miss.why}' if miss.why else ''}", miss.text) for miss in result.misses]
    return [f"{sanitize(title)}\n{render_code_block(sanitize_lines(text), options)}" for title, text in shown]


def _format_captures(hit: MatchingExample) -> str:
    return ": " + ", ".join(f"{name} {value}" for name, value in hit.captures.items()) if hit.captures else ""


OP = Operation(
    name="rules_show",
    summary="Everything about one rule.",
    doc="""With its pattern, what it finds and what it leaves alone. Where a pack of yours has a rule with the id of
another one, yours is shown, and which it replaces.""",
    args_type=RulesShowArgs,
    result_type=RulesShowResult,
    run=run,
    render_text=render_text,
    effect="local",
    examples=(OperationExample("rules show codex.usage.reached", "what it looks for and why"),),
)

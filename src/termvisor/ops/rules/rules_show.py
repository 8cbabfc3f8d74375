"""The operation `rules_show`: show one rule with its pattern and examples."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.detection.rule import MatchingExample, NonMatchingExample
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import copy_fields
from termvisor.ops.render.text import RenderOptions, render_code_block, sanitize, sanitize_lines, wrap_text
from termvisor.ops.rules._rule_packs import find_rule, load_all_packs


class RulesShowArgs(Struct, frozen=True, kw_only=True):
    """Choose the rule."""

    id: Annotated[str, Meta(description="The rule's id, such as `codex.usage.reached`.", extra={"positional": "one"})]


class RulesShowResult(Struct, frozen=True, kw_only=True):
    """``replaces`` are the packs whose rule with this id it replaces."""

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
    packs, disabled_ids = await load_all_packs(services)
    rule = find_rule(packs, args.id)
    replaced = packs.replaced.get(rule.id, ())
    return copy_fields(RulesShowResult, rule, is_disabled=rule.id in disabled_ids, replaces=replaced)


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
    disabled = "  (disabled)" if result.is_disabled else ""
    table = "\n".join(f"{name:9} {sanitize(value)}" for name, value in facts if value)
    return "\n\n".join(
        [
            f"{options.paint('cyan', sanitize(result.id))}{disabled}\n{wrap_text(sanitize(result.why), options.width)}",
            render_code_block(table, options),
            render_code_block(sanitize(result.pattern), options),
            *_format_texts(result, options),
        ]
    )


def _format_texts(result: RulesShowResult, options: RenderOptions) -> list[str]:
    """Format each example below a title."""
    examples = [(f"matches{_format_captures(hit)}", hit.text) for hit in result.hits]
    examples += [(f"does not match{f': {miss.why}' if miss.why else ''}", miss.text) for miss in result.misses]
    return [f"{sanitize(title)}\n{render_code_block(sanitize_lines(text), options)}" for title, text in examples]


def _format_captures(hit: MatchingExample) -> str:
    return ": " + ", ".join(f"{name} {value}" for name, value in hit.captures.items()) if hit.captures else ""


OP = Operation(
    name="rules_show",
    summary="Show one rule with its pattern and examples.",
    doc="""Shows the pattern and examples of text that it matches and does not match. If a rule of your own replaces
another one with the same id, yours is shown, with the packs whose rule it replaces.""",
    run=run,
    render_text=render_text,
    is_verbatim=True,
    effect="local",
    examples=(OperationExample("rules show codex.usage.reached", "one rule"),),
)

"""The op `rules_show`: everything about one rule, with the texts that prove it."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.detection.rule import Hit, Miss
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.render.text import Look, block, clean, clean_lines
from termvisor.ops.rules._rule_item import one, packs_of


class ShowRule(Struct, frozen=True, kw_only=True):
    """Which rule."""

    id: Annotated[str, Meta(description="Its id, such as `codex.usage.reached`.", extra={"positional": "one"})]


class ShownRule(Struct, frozen=True, kw_only=True):
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
    hits: tuple[Hit, ...]
    misses: tuple[Miss, ...]
    is_disabled: bool
    replaces: tuple[str, ...]


async def run(world: World, wanted: ShowRule) -> ShownRule:
    packs, off = await packs_of(world)
    rule = one(packs, wanted.id)
    names = [name for name in ShownRule.__struct_fields__ if name not in ("is_disabled", "replaces")]
    return ShownRule(
        **{name: getattr(rule, name) for name in names},
        is_disabled=rule.id in off,
        replaces=packs.replaced.get(rule.id, ()),
    )


def plain(rule: ShownRule, look: Look) -> str:
    facts = [
        ("pack", rule.pack),
        ("replaces", " ".join(rule.replaces)),
        ("agent", rule.agent or "any pane"),
        ("versions", rule.versions),
        ("scope", f"{rule.scope} {rule.part}".strip()),
        ("severity", rule.severity),
        ("event", rule.event),
        ("state", rule.state or ""),
        ("flag", rule.flag or ""),
        ("remedy", rule.remedy),
        ("cooldown", f"{rule.cooldown:g}s" if rule.event else ""),
    ]
    head = f"{look.paint('cyan', clean(rule.id))}{'  (switched off)' if rule.is_disabled else ''}\n{clean(rule.why)}"
    table = "\n".join(f"{name:9} {clean(value)}" for name, value in facts if value)
    return "\n\n".join([head, block(table, look), block(clean(rule.pattern), look), *_texts(rule, look)])


def _texts(rule: ShownRule, look: Look) -> list[str]:
    """What proves it, each below what it stands for."""
    shown = [(f"finds{_taken(hit)}", hit.text) for hit in rule.hits]
    shown += [(f"leaves alone{f': {miss.why}' if miss.why else ''}", miss.text) for miss in rule.misses]
    return [f"{clean(title)}\n{block(clean_lines(text), look)}" for title, text in shown]


def _taken(hit: Hit) -> str:
    return ": " + ", ".join(f"{name} {value}" for name, value in hit.captures.items()) if hit.captures else ""


OP = Op(
    name="rules_show",
    summary="Everything about one rule.",
    doc="""With its pattern, what it finds and what it leaves alone. Where a pack of yours has a rule with the id of
another one, yours is shown, and which it replaces.""",
    Input=ShowRule,
    Output=ShownRule,
    run=run,
    plain=plain,
    effect="local",
    examples=(Example("rules show codex.usage.reached", "what it looks for and why"),),
)

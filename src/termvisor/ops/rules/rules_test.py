"""The op `rules_test`: which rules match a text, and how each came to its word."""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.model.detection.match_trace import MatchTrace
from termvisor.model.detection.rule import Rule, Scope
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.api.text_input import FromFile, FromStdin, Unclean
from termvisor.ops.render.text import Look, block, clean, clean_lines, counted
from termvisor.ops.rules._rule_item import Packs, Trial, check_known, one, packs_of, tried
from termvisor.redaction import redact


class TestRules(Unclean, Struct, frozen=True, kw_only=True):
    """The text, and which rules to try."""

    text: Annotated[
        str, Meta(description="The text; all further words. `-`: read it from stdin.", extra={"positional": "rest"})
    ] = ""
    stdin: FromStdin = False
    file: FromFile = None
    agent: Annotated[
        str | None, Meta(description="As if this agent lived in the pane; without it, rules about all agents.")
    ] = None
    scope: Annotated[Scope | None, Meta(description="Only rules that look here.")] = None
    rule: Annotated[str | None, Meta(description="Only this rule; also says where it gave up.")] = None
    trace: Annotated[bool, Meta(description="Say how each came to its word.")] = False


class RuleTried(Struct, frozen=True, kw_only=True):
    """``line`` counts from 1 and is where the match ends; null where the rule does not match."""

    rule: str
    pack: str
    matched: bool
    line: int | None
    event: str
    severity: str
    captures: dict[str, str]
    is_disabled: bool
    match_trace: MatchTrace | None


class RulesTried(Struct, frozen=True, kw_only=True):
    """``tried`` is how many rules were asked."""

    tried: int
    matched: int
    items: tuple[RuleTried, ...]


async def run(world: World, wanted: TestRules) -> RulesTried:
    if not wanted.text:
        raise BadRequest(
            "there is no text to try", hint='For example `visor rules test "bash: foo: command not found"`.'
        )
    packs, off = await packs_of(world)
    check_known("agent", wanted.agent, (rule.agent for rule in packs.rules))
    rules = _chosen(packs, wanted)
    text = redact(clean_lines(wanted.text))  # rules see what is stored: without escapes, and redacted
    trials = [tried(rule, text, wanted.agent or "") for rule in rules]
    shown = [trial for trial in trials if trial.line is not None or wanted.rule]
    items = tuple(_item(trial, off, is_traced=wanted.trace) for trial in shown)
    return RulesTried(tried=len(trials), matched=sum(item.matched for item in items), items=items)


def _chosen(packs: Packs, wanted: TestRules) -> list[Rule]:
    if wanted.rule is not None:
        return [one(packs, wanted.rule)]
    fits = [rule for rule in packs.rules if wanted.scope in (None, rule.scope)]
    if wanted.scope is None:  # a text alone does not say in which part of a screen it stands
        fits = [rule for rule in fits if rule.scope != "screen"]
    return [rule for rule in fits if wanted.agent is None or rule.agent in ("", wanted.agent)]


def _item(trial: Trial, off: frozenset[str], *, is_traced: bool) -> RuleTried:
    rule = trial.rule
    return RuleTried(
        rule=rule.id,
        pack=rule.pack,
        matched=trial.line is not None,
        line=None if trial.line is None else trial.line + 1,
        event=rule.event,
        severity=rule.severity,
        captures=trial.captures,
        is_disabled=rule.id in off,
        match_trace=trial.trace if is_traced else None,
    )


def plain(told: RulesTried, look: Look) -> str:
    parts = [_told(item, look) for item in told.items]
    if not told.matched:
        parts.append(f"None of {counted(told.tried, 'rule')} matches.")
    return "\n".join(parts)


def _told(item: RuleTried, look: Look) -> str:
    end = f"line {item.line}" if item.matched else "does not match"
    words = [look.paint("cyan", clean(item.rule)), end, item.severity, item.event or "no event"]
    if item.is_disabled:
        words.append("switched off")
    lines = ["  ".join(words)]
    lines += [f"  {clean(name)} = {clean(value)}" for name, value in item.captures.items()]
    if item.match_trace is not None:
        shown = msgspec.json.format(msgspec.json.encode(item.match_trace), indent=2).decode()
        lines.append(block(clean_lines(shown), look))
    return "\n".join(lines)


def _status(told: RulesTried) -> int:
    return 0 if told.matched else 1


OP = Op(
    name="rules_test",
    summary="Which rules match a text.",
    doc="""The text is read as lines that were printed in a pane: escape sequences and bytes that are no text are left
out, secrets are redacted. `--file` takes up to a megabyte: of a longer log, `tail -c 1000000 log | visor rules test -`.
`--trace` adds how each rule came to its word: stages, spans as indices, names of captures, never the text itself.
With `--rule` a rule that does not match says at which stage it gave up. Nothing is stored or told.""",
    Input=TestRules,
    Output=RulesTried,
    run=run,
    plain=plain,
    effect="local",
    takes_text=True,
    exit_status=_status,
    exits=((0, "At least one rule matches."), (1, "None does.")),
    examples=(
        Example('rules test "bash: gti: command not found"', "which rules see that"),
        Example("rules test --file build.log --scope stream", "a whole log"),
        Example('rules test --rule codex.compaction --trace "Context compacted"', "why not"),
    ),
)

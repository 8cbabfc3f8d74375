"""The op `rules_test`: which rules match a text, and how each came to its word."""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.model.detection.match_trace import MatchTrace
from termvisor.model.detection.rule import Rule, RuleScope
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.api.text_input import LenientTextInput, StdinFlag, TextFileOption
from termvisor.ops.render.text import RenderOptions, pluralize, render_code_block, sanitize, sanitize_lines
from termvisor.ops.rules._rule_packs import (
    RulePacks,
    RuleTestResult,
    check_known_name,
    find_rule,
    load_all_packs,
    try_rule,
)
from termvisor.redaction import redact


class RulesTestArgs(LenientTextInput, Struct, frozen=True, kw_only=True):
    """The text, and which rules to try."""

    text: Annotated[
        str, Meta(description="The text; all further words. `-`: read it from stdin.", extra={"positional": "rest"})
    ] = ""
    stdin: StdinFlag = False
    file: TextFileOption = None
    agent: Annotated[
        str | None, Meta(description="As if this agent lived in the pane; without it, rules about all agents.")
    ] = None
    scope: Annotated[RuleScope | None, Meta(description="Only rules that look here.")] = None
    rule: Annotated[str | None, Meta(description="Only this rule; also says where it gave up.")] = None
    trace: Annotated[bool, Meta(description="Say how each came to its word.")] = False


class RuleTestItem(Struct, frozen=True, kw_only=True):
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


class RulesTestResult(Struct, frozen=True, kw_only=True):
    """``tried`` is how many rules were asked."""

    tried: int
    matched: int
    items: tuple[RuleTestItem, ...]


async def run(services: Services, args: RulesTestArgs) -> RulesTestResult:
    if not args.text:
        raise BadRequest(
            "there is no text to try", hint='For example `visor rules test "bash: foo: command not found"`.'
        )
    packs, off = await load_all_packs(services)
    check_known_name("agent", args.agent, (rule.agent for rule in packs.rules))
    rules = _select_rules(packs, args)
    text = redact(sanitize_lines(args.text))  # rules see what is stored: without escapes, and redacted
    trials = [try_rule(rule, text, args.agent or "") for rule in rules]
    shown = [trial for trial in trials if trial.line is not None or args.rule]
    items = tuple(_build_item(trial, off, is_traced=args.trace) for trial in shown)
    return RulesTestResult(tried=len(trials), matched=sum(item.matched for item in items), items=items)


def _select_rules(packs: RulePacks, args: RulesTestArgs) -> list[Rule]:
    if args.rule is not None:
        return [find_rule(packs, args.rule)]
    fits = [rule for rule in packs.rules if args.scope in (None, rule.scope)]
    if args.scope is None:  # a text alone does not say in which part of a screen it stands
        fits = [rule for rule in fits if rule.scope != "screen"]
    return [rule for rule in fits if args.agent is None or rule.agent in ("", args.agent)]


def _build_item(trial: RuleTestResult, disabled_ids: frozenset[str], *, is_traced: bool) -> RuleTestItem:
    rule = trial.rule
    return RuleTestItem(
        rule=rule.id,
        pack=rule.pack,
        matched=trial.line is not None,
        line=None if trial.line is None else trial.line + 1,
        event=rule.event,
        severity=rule.severity,
        captures=trial.captures,
        is_disabled=rule.id in disabled_ids,
        match_trace=trial.trace if is_traced else None,
    )


def render_text(result: RulesTestResult, options: RenderOptions) -> str:
    parts = [_format_item(item, options) for item in result.items]
    if not result.matched:
        parts.append(f"None of {pluralize(result.tried, 'rule')} matches.")
    return "\n".join(parts)


def _format_item(item: RuleTestItem, options: RenderOptions) -> str:
    end = f"line {item.line}" if item.matched else "does not match"
    words = [options.paint("cyan", sanitize(item.rule)), end, item.severity, item.event or "no event"]
    if item.is_disabled:
        words.append("switched off")
    lines = ["  ".join(words)]
    lines += [f"  {sanitize(name)} = {sanitize(value)}" for name, value in item.captures.items()]
    if item.match_trace is not None:
        shown = msgspec.json.format(msgspec.json.encode(item.match_trace), indent=2).decode()
        lines.append(render_code_block(sanitize_lines(shown), options))
    return "\n".join(lines)


def _get_exit_status(result: RulesTestResult) -> int:
    return 0 if result.matched else 1


OP = Operation(
    name="rules_test",
    summary="Which rules match a text.",
    doc="""The text is read as lines that were printed in a pane: escape sequences and bytes that are no text are left
out, secrets are redacted. `--file` takes up to a megabyte: of a longer log, `tail -c 1000000 log | visor rules test -`.
`--trace` adds how each rule came to its word: stages, spans as indices, names of captures, never the text itself.
With `--rule` a rule that does not match says at which stage it gave up. Nothing is stored or told.""",
    args_type=RulesTestArgs,
    result_type=RulesTestResult,
    run=run,
    render_text=render_text,
    effect="local",
    accepts_text_input=True,
    get_exit_status=_get_exit_status,
    exit_statuses=((0, "At least one rule matches."), (1, "None does.")),
    examples=(
        OperationExample('rules test "bash: gti: command not found"', "which rules see that"),
        OperationExample("rules test --file build.log --scope stream", "a whole log"),
        OperationExample('rules test --rule codex.compaction --trace "Context compacted"', "why not"),
    ),
)

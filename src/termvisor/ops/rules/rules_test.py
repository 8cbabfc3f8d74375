"""The operation `rules_test`: test which rules match a text, with a trace of each match."""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.model.detection.rule import MatchTrace, Rule, RuleScope
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.api.text_input import LenientTextInput, StdinFlag, TextFileOption
from termvisor.ops.render.results import copy_fields
from termvisor.ops.render.text import RenderOptions, pluralize, render_code_block, sanitize, sanitize_lines
from termvisor.ops.rules import _rule_packs
from termvisor.redaction import redact


class RulesTestArgs(LenientTextInput, Struct, frozen=True, kw_only=True):
    """The text, and the rules to test."""

    text: Annotated[
        str,
        Meta(
            description="The text; all further words. `-` reads it from stdin.",
            extra={"positional": "rest", "form_doc": "The text."},
        ),
    ] = ""
    stdin: StdinFlag = False
    file: TextFileOption = None
    agent: Annotated[
        str | None, Meta(description="As if this agent were running in the pane; default: rules for all agents.")
    ] = None
    scope: Annotated[RuleScope | None, Meta(description="Only rules with this scope.")] = None
    rule: Annotated[str | None, Meta(description="Only this rule, even if it does not match.")] = None
    trace: Annotated[bool, Meta(description="Add a trace of each match.")] = False


class RuleTestItem(Struct, frozen=True, kw_only=True):
    """``line`` is the line where the match ends, from 1; null if the rule does not match."""

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
    """``tried`` is the number of tested rules."""

    tried: int
    matched: int
    items: tuple[RuleTestItem, ...]


async def run(services: Services, args: RulesTestArgs) -> RulesTestResult:
    if not args.text:
        raise BadRequest("no text was given", hint='For example `visor rules test "bash: foo: command not found"`.')
    packs, disabled_ids = await _rule_packs.load_all_packs(services)
    _rule_packs.check_known_name("agent", args.agent, (rule.agent for rule in packs.rules))
    rules = _select_rules(packs, args)
    # Rules are matched against stored text, which has no escapes and is redacted.
    text = redact(sanitize_lines(args.text))
    results = [_rule_packs.try_rule(rule, text, args.agent or "") for rule in rules]
    shown = [result for result in results if result.line is not None or args.rule]
    items = tuple(_build_item(result, disabled_ids, is_traced=args.trace) for result in shown)
    return RulesTestResult(tried=len(results), matched=sum(item.matched for item in items), items=items)


def _select_rules(packs: _rule_packs.RulePacks, args: RulesTestArgs) -> list[Rule]:
    if args.rule is not None:
        return [_rule_packs.find_rule(packs, args.rule)]
    rules = [rule for rule in packs.rules if args.scope in (None, rule.scope)]
    # The text alone does not show which part of the screen it is from.
    if args.scope is None:
        rules = [rule for rule in rules if rule.scope != "screen"]
    return [rule for rule in rules if args.agent is None or rule.agent in ("", args.agent)]


def _build_item(result: _rule_packs.RuleTestResult, disabled_ids: frozenset[str], *, is_traced: bool) -> RuleTestItem:
    rule = result.rule
    return copy_fields(
        RuleTestItem,
        rule,
        rule=rule.id,
        matched=result.line is not None,
        line=None if result.line is None else result.line + 1,
        captures=result.captures,
        is_disabled=rule.id in disabled_ids,
        match_trace=result.trace if is_traced else None,
    )


def render_text(result: RulesTestResult, options: RenderOptions) -> str:
    parts = [_format_item(item, options) for item in result.items]
    if not result.matched:
        parts.append(f"No match ({pluralize(result.tried, 'rule')} tested).")
    return "\n".join(parts)


def _format_item(item: RuleTestItem, options: RenderOptions) -> str:
    place = f"line {item.line}" if item.matched else "does not match"
    fields = [options.paint("cyan", sanitize(item.rule)), place, item.severity, item.event or "no event"]
    if item.is_disabled:
        fields.append("disabled")
    lines = ["  ".join(fields)]
    lines += [f"  {sanitize(name)} = {sanitize(value)}" for name, value in item.captures.items()]
    if item.match_trace is not None:
        trace = msgspec.json.format(msgspec.json.encode(item.match_trace), indent=2).decode()
        lines.append(render_code_block(sanitize_lines(trace), options))
    return "\n".join(lines)


OP = Operation(
    name="rules_test",
    summary="Test which rules match a text.",
    doc="""The text is read like lines printed in a pane: escape sequences and invalid bytes are removed, secrets
redacted. `--file` reads up to one megabyte; for a longer log use `tail -c 1000000 log | visor rules test -`. `--trace`
adds stages, spans as indices and names of captures, never the text itself; with `--rule` also for a rule that does not
match. Nothing is stored or reported.""",
    run=run,
    render_text=render_text,
    effect="local",
    accepts_text_input=True,
    get_exit_status=lambda result: 0 if result.matched else 1,
    exit_statuses=((0, "At least one rule matches."), (1, "No rule matches.")),
    examples=(
        OperationExample('rules test "bash: gti: command not found"', "one line"),
        OperationExample("rules test --file build.log --scope stream", "a whole log"),
        OperationExample('rules test --rule codex.compaction --trace "Context compacted"', "trace one rule"),
    ),
)

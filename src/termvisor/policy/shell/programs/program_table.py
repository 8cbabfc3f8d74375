"""The table format for known programs: one or more names, and a rule or function that analyzes their calls."""

from collections.abc import Mapping
from functools import partial
from typing import Literal, TypeVar

from msgspec import Struct

from termvisor.policy.shell.call import NO_EFFECT, CommandEffect, EffectAnalyzer, ProgramCall, parse_options

T = TypeVar("T")
OperandUse = Literal["none", "all", "rest", "sources", "target"]
"""``rest``: all but the first. ``target``: the value of `-t` or the last operand. ``sources``: all before it."""


class ProgramEffectRule(Struct, frozen=True, kw_only=True):
    """The effect of a simple program, if all conditions that are set hold. Lists are space-separated text."""

    classes: tuple[str, ...] = ()
    options_with_value: str = ""
    reads: OperandUse = "none"
    writes: OperandUse = "none"
    removes: OperandUse = "none"
    needs: Literal["nothing", "argument", "operand"] = "nothing"
    verbs: str = ""
    """The first operand must be one of these."""
    harmless_verbs: str = ""
    words: str = ""
    """One argument must be one of these."""
    harmless_words: str = ""
    flags: str = ""
    """One of these options must be given."""


def build_analyzers(table: Mapping[str, ProgramEffectRule | EffectAnalyzer]) -> dict[str, EffectAnalyzer]:
    """Return the analyzer of each program. Each key of the table holds one or more program names."""
    return {
        name: partial(_analyze_by_rule, entry) if isinstance(entry, ProgramEffectRule) else entry
        for name, entry in split_names(table).items()
    }


def split_names(table: Mapping[str, T]) -> dict[str, T]:
    """Expand a table whose keys hold one or more names into a table with one name per key."""
    return {name: entry for names, entry in table.items() for name in names.split()}


def _analyze_by_rule(rule: ProgramEffectRule, call: ProgramCall) -> CommandEffect:
    options = parse_options(call.arguments, rule.options_with_value)
    operands, words = options.operands, {word.text for word in call.arguments}
    verb = operands[0].text if operands else ""
    is_harmless = (
        (rule.needs == "argument" and not words)
        or (rule.needs == "operand" and not operands)
        or (rule.verbs and verb not in rule.verbs.split())
        or verb in rule.harmless_verbs.split()
        or (rule.words and words.isdisjoint(rule.words.split()))
        or not words.isdisjoint(rule.harmless_words.split())
        or (rule.flags and not options.has(*rule.flags.split()))
    )
    if is_harmless:
        return NO_EFFECT
    target = options.find_value("-t", "--target-directory")
    used = {
        "none": (),
        "all": operands,
        "rest": operands[1:],
        "sources": operands if target else operands[:-1],
        "target": (target,) if target else operands[-1:],
    }
    return CommandEffect(
        classes=rule.classes, reads=used[rule.reads], writes=used[rule.writes], removes=used[rule.removes]
    )

"""The table format for known programs: how a program uses its options and operands.

Invariant: a call is harmless only if a rule declares all of it. An undeclared program, verb or option makes the
effect unknown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.policy.shell.call import (
    NO_EFFECT,
    UNKNOWN_EFFECT,
    CommandEffect,
    EffectAnalyzer,
    ParsedOptions,
    ProgramCall,
    classify,
    iterate_readings,
    merge_effects,
    parse_options,
)
from termvisor.policy.shell.programs import file, git, interpreter, machine, network, terminal, wrapper
from termvisor.policy.shell.word import UNKNOWN_TEXT, ShellWord

OperandUse = Literal["none", "all", "rest", "sources", "target"]
"""``rest``: all but the first. ``target``: the value of `-t` or the last operand. ``sources``: all before it."""
HELP_FLAGS = ("--help", "--version")

# `import sys` loads no file, unlike other modules, which the current folder may replace.
_PRINT_LITERAL = r"(?:[\d\s+\-*/%.,]|'[^'\\]*'|\"[^\"\\$@#`{]*\"|sys\.(?:version|platform|executable)\b)*"
_PRINT_CODE = re.compile(
    rf"(?:\s*(?:import sys|(?:print|puts|console\.log)(?:\({_PRINT_LITERAL}\)|\s+{_PRINT_LITERAL}))\s*(?:[;\n]|$))+\s*"
)


class ProgramEffectRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The effect of a program or verb. Texts are lists separated by spaces, options as in `OptionSyntax`."""

    options: str = ""
    """Harmless options; `*` for any that no other field names."""
    effects: dict[str, str] = {}
    """Classes by options: `{ "-f --force" = "history_rewrite" }`."""
    classes: str = ""
    """Classes of every call, except of dry runs."""
    needs: Literal["nothing", "argument", "operand"] = "nothing"
    """What a call must have for ``classes`` to apply."""
    dry_run: str = ""
    """Options with which the program only shows what it would do, or lists something."""
    reads: OperandUse = "none"
    writes: OperandUse = "none"
    removes: OperandUse = "none"
    file_options: str = ""
    """Options whose value is a written file."""
    script_options: str = ""
    """Options whose value is a shell script."""
    runs: Literal["", "program", "line"] = ""
    """Whether the operands are a program with its arguments, or words of a command line."""
    skips: tuple[int, ...] = (0,)
    """The possible numbers of operands before the program that the operands name."""
    verbs: dict[str, str] = {}
    """First operands by what they do: `reads`, `runs` (a program) or a class. `*`: any other, else unknown."""
    groups: str = ""
    """First operands that the same verbs follow, such as `docker compose`."""
    options_first: bool = False
    """True if the first operand ends the options."""
    analyze: str = ""
    """The function in `programs` for what the other fields cannot express: `file.find`."""
    rules_by_verb: dict[str, ProgramEffectRule] = {}
    """Filled from ``verbs`` and from the lines of verbs."""

    @property
    def syntax(self) -> str:
        fields = (self.options, *self.effects, self.dry_run, self.file_options, self.script_options)
        return " ".join(filter(None, fields))

    def adopt_verbs(self, names: str, rule: ProgramEffectRule) -> ProgramEffectRule:
        """Add verbs with this rule, which inherits options, effects and dry runs, and return their rule."""
        inner = replace(
            rule,
            options=" ".join([rule.options, *(name for name in self.syntax.split() if name != "*")]),
            effects={**self.effects, **rule.effects},
            dry_run=rule.dry_run or self.dry_run,
            file_options=f"{rule.file_options} {self.file_options}",
            rules_by_verb={},
        )
        self.rules_by_verb.update(dict.fromkeys(names.split(), inner))
        return inner

    def build_verbs(self) -> None:
        """Add the rules of ``verbs`` and ``groups``. Lines of single verbs replace them."""
        for effect, names in self.verbs.items():
            rule = (
                ProgramEffectRule(options="*", runs="program") if effect == "runs" else ProgramEffectRule(options="*")
            )
            self.adopt_verbs(names, replace(rule, classes="" if effect in ("reads", "runs") else effect))
        self.rules_by_verb.update(dict.fromkeys(self.groups.split(), self))


def analyze_by_rule(rule: ProgramEffectRule, call: ProgramCall) -> CommandEffect:
    """Return the effect of a call, whose words are a program or verb and its arguments."""
    syntax, is_prefix = rule.syntax, bool(rule.rules_by_verb or rule.runs)
    has_prefix = is_prefix or rule.options_first
    readings = list(iterate_readings(call.arguments, syntax)) if has_prefix else [parse_options(call.arguments, syntax)]
    # An interpreter passes `--help` on to its code.
    if not has_prefix and not rule.analyze.startswith("interpreter.") and _is_help_request(readings[0]):
        return NO_EFFECT
    effects = [effect for options in readings for effect in _analyze_inner(rule, call, options)]
    effects += [effect for options in readings for effect in _analyze_options(rule, call, options)]
    # An unknown word may be an option, as in `sort $X`.
    is_open = "*" not in rule.options.split() and not has_prefix and rule.writes == "none"
    is_open = is_open and any(word.text.startswith(UNKNOWN_TEXT) for word in call.arguments)
    if is_open or any(options.unknown for options in readings):
        effects.append(UNKNOWN_EFFECT)
    return merge_effects(*effects, _ANALYZERS[rule.analyze](call, readings[0]) if rule.analyze else NO_EFFECT)


def _is_help_request(options: ParsedOptions) -> bool:
    return len(options.flags) == 1 and options.flags[0] in HELP_FLAGS and not options.values


def _analyze_options(rule: ProgramEffectRule, call: ProgramCall, options: ParsedOptions) -> Iterator[CommandEffect]:
    operands = options.operands
    is_missing = (rule.needs == "argument" and not call.arguments) or (rule.needs == "operand" and not operands)
    found = [
        classes
        for names, classes in rule.effects.items()
        if options.has(*_list_names(names)) and not (classes == "inline_code" and _is_print_only(call))
    ]
    if options.is_dry_run(rule.dry_run) and not options.unknown and not found:
        return
    yield CommandEffect(
        classes=tuple(" ".join(found).split()),
        writes=options.find_values(*_list_names(rule.file_options)),
        scripts=options.find_values(*_list_names(rule.script_options)),
    )
    if is_missing:
        return
    target = options.find_value("-t", "--target-directory")
    used = {
        "none": (),
        "all": operands,
        "rest": operands[1:],
        "sources": operands if target else operands[:-1],
        "target": (target,) if target else operands[-1:],
    }
    yield CommandEffect(
        classes=tuple(rule.classes.split()),
        reads=used[rule.reads],
        writes=used[rule.writes],
        removes=used[rule.removes],
    )


def _is_print_only(call: ProgramCall) -> bool:
    return len(call.arguments) == 2 and _PRINT_CODE.fullmatch(call.arguments[1].text) is not None


def _list_names(syntax: str) -> list[str]:
    return [name.rstrip("=") for name in syntax.split()]


def _analyze_inner(rule: ProgramEffectRule, call: ProgramCall, options: ParsedOptions) -> Iterator[CommandEffect]:
    """Yield the effects of the verb, program or command line that the operands name."""
    if rule.rules_by_verb and options.rest:
        yield _analyze_verb(rule, replace(call, words=options.rest))
    if rule.runs == "line" and options.rest:
        yield CommandEffect(scripts=(ShellWord(" ".join(w.text for w in options.rest), call.start, call.end),))
    if rule.runs != "program" or options.is_dry_run(rule.dry_run):
        return
    for skipped in rule.skips:
        words = options.rest[skipped:]
        if skipped and words and words[0].text.startswith("-"):  # options may also stand after the first operand
            later = parse_options(words, rule.syntax, stops_at_operand=True)
            yield CommandEffect(scripts=later.find_values(*_list_names(rule.script_options)))
            words = later.rest
        inner = _build_inner_call(call, words)
        yield CommandEffect(calls=(inner,) if inner else ())


def _analyze_verb(rule: ProgramEffectRule, call: ProgramCall) -> CommandEffect:
    verb = call.words[0]
    if not verb.is_known or verb.is_pattern:
        return classify("dynamic")
    inner = rule.rules_by_verb.get(verb.text, rule.rules_by_verb.get("*"))
    return UNKNOWN_EFFECT if inner is None else analyze_by_rule(inner, call)


def _build_inner_call(call: ProgramCall, words: tuple[ShellWord, ...]) -> ProgramCall | None:
    """Return the call of the program that the words name after variables, as in `env A=b ls`; None without one."""
    count = next((index for index, word in enumerate(words) if not is_assignment(word)), len(words))
    sets = tuple(word.text.partition("=")[0] for word in words[:count])
    return replace(call, words=words[count:], sets=sets) if words else None


def is_assignment(word: ShellWord) -> bool:
    return word.text.partition("=")[0].isidentifier() and "=" in word.text


def _load_rules() -> dict[str, ProgramEffectRule]:
    """Return the rule of each program. Lines of verbs follow the line of their program."""
    # Not importlib.resources, which loads archives, temporary files and OpenSSL: four megabytes in the daemon.
    with open(f"{os.path.dirname(__file__)}/programs.toml", "rb") as file:
        data = file.read()
    rules: dict[str, ProgramEffectRule] = {}
    for names, rule in msgspec.toml.decode(data, type=dict[str, ProgramEffectRule]).items():
        *path, last = re.split(r"(?<=\S): ", names)
        if path:
            outer = rules[path[0]]
            for verb in path[1:]:
                outer = outer.rules_by_verb[verb]
            outer.adopt_verbs(last, rule).build_verbs()
        else:
            rules |= dict.fromkeys(last.split(), rule)
            rule.build_verbs()
    return rules


RULES_BY_PROGRAM = _load_rules()
# Functions by module and name, as the table names them.
_ANALYZERS: dict[str, EffectAnalyzer] = {
    f"{module.__name__.rpartition('.')[2]}.{name.removeprefix('analyze_')}": value
    for module in (file, git, interpreter, machine, network, terminal, wrapper)
    for name, value in vars(module).items()
    if name.startswith("analyze_")
}

"""The table format for known programs: how a program uses its options and operands.

Invariant: a call is harmless only if a rule declares all of it. An undeclared program, verb or option makes the
effect unknown.
"""

from __future__ import annotations

import os
import re
import sys
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
from termvisor.policy.shell.programs import file, interpreter, network, terminal, wrapper
from termvisor.policy.shell.programs.network import find_hosts
from termvisor.policy.shell.word import UNKNOWN_TEXT, ShellWord

OperandUse = Literal["none", "all", "first", "rest", "sources", "target", "here"]
"""``rest``: all but the first. ``target``: the value of `-t` or the last operand. ``sources``: all before it.

``here``: the current folder, unless a file option names another.
"""
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
    values: dict[str, dict[str, str]] = {}
    """Classes by options and by a regular expression that their value matches: `{ "-v=" = { "^/" = "privilege" } }`."""
    patterns: dict[str, str] = {}
    """Classes by a regular expression that the operands match, joined by spaces: `{ " [+:]" = "history_rewrite" }`."""
    known: str = ""
    """A regular expression. Operands that neither it nor ``patterns`` match have an unknown effect."""
    classes: str = ""
    """Classes of every call, except of dry runs."""
    needs: Literal["nothing", "argument", "operand"] = "nothing"
    """What a call must have for ``classes`` to apply."""
    dry_run: str = ""
    """Options with which the program only shows what it would do, or lists something."""
    reads: OperandUse = "none"
    writes: OperandUse = "none"
    removes: OperandUse = "none"
    replaces_first: str = ""
    """Options that hold what is otherwise the first operand, such as `-e` of grep; then ``rest`` means all."""
    hosts: Literal["none", "first", "all", "addresses", "unknown", "names"] = "none"
    """Operands that name other machines. ``addresses``: only those written as an address. ``names``: only looked up."""
    input: str = ""
    """Classes of a call that reads its input from a file or another program."""
    folder_options: str = ""
    """Options whose value is the folder that the program starts in."""
    read_options: str = ""
    """Options whose value is a read file."""
    file_options: str = ""
    """Options whose value is a written file."""
    script_options: str = ""
    """Options whose value is a shell script."""
    runs: Literal["", "program", "line"] = ""
    """Whether the operands are a program with its arguments, or words of a command line."""
    entry_options: str = ""
    """Options whose value is the program; the operands are then its arguments."""
    skips: tuple[int, ...] = (0,)
    """The possible numbers of operands before the program that the operands name."""
    verbs: dict[str, str] = {}
    """First operands by what they do: `reads`, `runs` (a program) or a class. `*`: any other, else unknown."""
    groups: str = ""
    """First operands that the same verbs follow, such as `docker compose`."""
    like: str = ""
    """A program on an earlier line, whose fields are the defaults of this line."""
    options_first: bool = False
    """True if the first operand ends the options."""
    analyze: str = ""
    """The function in `programs` for what the other fields cannot express: `file.find`."""
    rules_by_verb: dict[str, ProgramEffectRule] = {}
    """Filled from ``verbs`` and from the lines of verbs."""

    @property
    def syntax(self) -> str:
        """All declared options."""
        files = (self.file_options, self.read_options, self.folder_options)
        lists = (self.options, self.dry_run, *files, self.script_options, self.entry_options, self.replaces_first)
        return " ".join(filter(None, (*lists, *self.effects, *self.values)))

    def adopt_verbs(self, names: str, rule: ProgramEffectRule) -> ProgramEffectRule:
        """Add verbs with this rule, which inherits options, effects and dry runs, and return their rule."""
        inner = replace(
            rule,
            # Most verbs of a program get equal values: shared, they take a tenth of a megabyte less.
            options=sys.intern(" ".join([rule.options, *(name for name in self.syntax.split() if name != "*")])),
            effects={**self.effects, **rule.effects} if rule.effects else self.effects,
            dry_run=rule.dry_run or self.dry_run,
            file_options=sys.intern(f"{rule.file_options} {self.file_options}"),
            rules_by_verb={},
        )
        self.rules_by_verb.update(dict.fromkeys(names.split() or [""], inner))
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
    if len(call.arguments) == 1 and call.arguments[0].text in rule.dry_run.split() and not rule.rules_by_verb:
        return NO_EFFECT
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
    found = list(_find_option_classes(rule, call, options))
    if options.is_dry_run(rule.dry_run) and not options.unknown and not found:
        return
    found += _find_operand_classes(rule, options)
    found += [rule.input] if call.reads_stdin else []
    hosts = () if rule.hosts == "none" else find_hosts(operands, rule.hosts)
    if rule.hosts != "none" and call.substituted and not all(word.is_known for word in operands):
        found.append("network_exfiltration")  # a name or address can carry the output of another program
    sends_locally = rule.hosts not in ("none", "names") and not hosts
    files = options.find_values(*_list_names(rule.file_options))
    yield CommandEffect(
        classes=tuple(name for name in " ".join(found).split() if name != "network_exfiltration" or not sends_locally),
        writes=files,
        scripts=options.find_values(*_list_names(rule.script_options)),
        moves_to=options.find_values(*_list_names(rule.folder_options)),
        hosts=hosts,
    )
    if (rule.needs == "argument" and not call.arguments) or (rule.needs == "operand" and not operands):
        return
    target = options.find_value("-t", "--target-directory")
    has_first = not rule.replaces_first or not options.has(*_list_names(rule.replaces_first))
    used = {
        "none": (),
        "all": operands,
        "first": operands[:1],
        "rest": operands[1:] if has_first else operands,
        "sources": operands if target else operands[:-1],
        "target": (target,) if target else operands[-1:],
        "here": () if files or not call.arguments else (ShellWord("."),),
    }
    yield CommandEffect(
        classes=tuple(rule.classes.split()),
        reads=used[rule.reads] + options.find_values(*_list_names(rule.read_options)),
        writes=used[rule.writes],
        removes=used[rule.removes],
    )


def _find_option_classes(rule: ProgramEffectRule, call: ProgramCall, options: ParsedOptions) -> Iterator[str]:
    for names, classes in rule.effects.items():
        if options.has(*_list_names(names)) and not (classes == "inline_code" and _is_print_only(call)):
            yield classes
    for names, classes_by_pattern in rule.values.items():
        texts = [word.text for word in options.find_values(*_list_names(names))]
        yield from (classes for p, classes in classes_by_pattern.items() if any(re.search(p, text) for text in texts))


def _find_operand_classes(rule: ProgramEffectRule, options: ParsedOptions) -> list[str]:
    text = " ".join(word.text for word in options.operands)
    found = [classes for pattern, classes in rule.patterns.items() if re.search(pattern, text)]
    is_known = bool(found) or not rule.known or re.search(rule.known, text)
    return found if is_known else ["unknown_effect"]


def _is_print_only(call: ProgramCall) -> bool:
    return len(call.arguments) == 2 and _PRINT_CODE.fullmatch(call.arguments[1].text) is not None


def _list_names(syntax: str) -> list[str]:
    return [name.rstrip("=?") for name in syntax.split()]


def _analyze_inner(rule: ProgramEffectRule, call: ProgramCall, options: ParsedOptions) -> Iterator[CommandEffect]:
    """Yield the effects of the verb, program or command line that the operands name."""
    if rule.rules_by_verb and options.rest:
        yield _analyze_verb(rule, replace(call, words=options.rest))
    elif bare := rule.rules_by_verb.get(""):
        yield analyze_by_rule(bare, call)
    if rule.runs == "line" and options.rest:
        yield CommandEffect(scripts=(ShellWord(" ".join(w.text for w in options.rest), call.start, call.end),))
    if rule.runs != "program" or options.is_dry_run(rule.dry_run):
        return
    for skipped in rule.skips:
        words, scripts = options.rest[skipped:], tuple[ShellWord, ...]()
        words = (*options.find_values(*_list_names(rule.entry_options)), *words)
        if skipped and words and words[0].text.startswith("-"):  # options may also stand after the first operand
            later = parse_options(words, rule.syntax, stops_at_operand=True)
            scripts = later.find_values(*_list_names(rule.script_options))
            words = later.rest
        inner = _build_inner_call(call, words)
        # Without a program, the operand decides what runs: `docker run image`.
        is_open = skipped and not inner and not scripts and not options.find_values(*_list_names(rule.script_options))
        yield UNKNOWN_EFFECT if is_open else CommandEffect(calls=(inner,) if inner else (), scripts=scripts)


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
    lines = msgspec.toml.decode(data, type=dict[str, dict[str, object]])
    lines_by_program: dict[str, dict[str, object]] = {}
    for names, fields in lines.items():
        line = lines_by_program.get(str(fields.get("like")), {}) | fields
        lines_by_program |= dict.fromkeys((names, *names.split()), line)
        rule = msgspec.convert(line, ProgramEffectRule)
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
    for module in (file, interpreter, network, terminal, wrapper)
    for name, value in vars(module).items()
    if name.startswith("analyze_")
}

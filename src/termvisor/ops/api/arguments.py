"""Parse command lines into argument structs and render them back, based on the fields of the struct.

Supports positionals, `--flag value`, `--flag=value`, `--switch`, short flags, repeated flags for tuples, and `--`,
which ends the flags. Invariant: `parse_arguments(type(args), render_arguments(args)) == args`.
Options that every command accepts, anywhere before a `--`, are split off first: `GlobalOptions`.
"""

import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.model.action.action import CallerFace
from termvisor.model.did_you_mean import find_close_matches
from termvisor.ops.render.text import OutputFormat

S = TypeVar("S", bound=Struct)
OUTPUT_FORMATS = ("auto", *get_args(OutputFormat))
_FORMAT_ALIASES = {"table": "plain", "jsonl": "json"}
"""Names that other tools use for these formats."""
GLOBAL_OPTIONS_HELP = (
    ("--format <auto|json|markdown|plain>", "Output format; auto means json for `visor robot`, else plain."),
    ("--json", "Short for --format json."),
    ("--wide", "Print every column and value in full, however narrow the terminal is."),
    ("--full", "JSON with every field: also those that have their default, and details."),
    ("--fields <a,b.c>", "JSON with these fields only; in a listing, those of its items."),
    ("-q, --quiet", "Print only the result: no headings, notes or hints."),
    ("-h, --help", "Show help."),
)
_SWITCH_FIELDS = {
    "--wide": "is_wide",
    "-q": "is_quiet",
    "--quiet": "is_quiet",
    "-h": "wants_help",
    "--help": "wants_help",
    "--full": "is_full",
}


class CommandArgument(Struct, frozen=True, kw_only=True):
    """Command-line metadata of one field of an argument struct."""

    field: str
    type: Any
    choices: tuple[str, ...] = ()
    is_required: bool
    is_positional: bool
    takes_rest: bool
    """The last positional takes all further words: joined by spaces, or as a tuple if it is repeated."""
    is_repeated: bool
    is_path: bool
    """A file or folder; a relative path is resolved against the client's working directory."""
    default: Any
    doc: str
    flags: tuple[str, ...]
    value_kind: str = ""
    """Kind of value, for completion: `pane`, `path`, `setting`, `event` or empty."""
    form_doc: str = ""
    """The description where there is no command line."""
    faces: tuple[CallerFace, ...] = ()
    """The interfaces that show it; empty means all."""

    def is_shown_by(self, face: CallerFace) -> bool:
        """Return True if the forms and schemas of this interface have the argument."""
        return not self.faces or face in self.faces

    @property
    def is_switch(self) -> bool:
        return self.type is bool

    @property
    def value_name(self) -> str:
        return "|".join(self.choices) if self.choices else self.field.replace("_", "-")


@cache
def list_arguments(args_type: type[Struct]) -> tuple[CommandArgument, ...]:
    """Return the arguments of a struct, in the order of its fields."""
    hints = get_type_hints(args_type, include_extras=True)
    return tuple(_build_argument(field, hints[field.name]) for field in msgspec.structs.fields(args_type))


def _build_argument(field: msgspec.structs.FieldInfo, hint: Any) -> CommandArgument:
    kind, meta = get_args(hint)[:2] if get_origin(hint) is Annotated else (hint, Meta())
    bare = _get_bare_type(kind)
    is_repeated = get_origin(bare) is tuple
    single = _get_bare_type(get_args(bare)[0]) if is_repeated else bare
    extra = meta.extra or {}
    long = ("--" + field.name.replace("_", "-"), *extra.get("also", ()))
    return CommandArgument(
        field=field.name,
        type=str if is_repeated or get_origin(bare) is Literal else bare,
        choices=get_args(single) if get_origin(single) is Literal else (),
        is_required=field.required,
        is_positional="positional" in extra,
        takes_rest=extra.get("positional") == "rest",
        is_repeated=is_repeated,
        is_path="is_path" in extra,
        default=field.default,
        doc=meta.description or "",
        flags=(*long, *extra.get("short", ())),
        form_doc=extra.get("form_doc", meta.description or ""),
        faces=extra.get("faces", ()),
        value_kind="path" if extra.get("is_path") else extra.get("names", "pane" if field.name == "pane" else ""),
    )


def _get_bare_type(kind: Any) -> Any:
    """Return the type without None and constraints."""
    if get_origin(kind) in (Union, UnionType):
        kind = next(part for part in get_args(kind) if part is not NoneType)
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def parse_arguments(args_type: type[S], words: Sequence[str]) -> S:
    """Parse words into an argument struct. Raises BadRequest, which suggests the closest option for an unknown one."""
    known = list_arguments(args_type)
    values: dict[str, Any] = {}
    positional_words: list[str] = []
    for argument, value in _tokenize(known, words):
        if argument is None:
            positional_words.append(value)
        elif argument.is_repeated:
            values[argument.field] = (*values.get(argument.field, ()), value)
        else:
            values[argument.field] = _parse_value(argument, value)
    values.update(_assign_positionals([a for a in known if a.is_positional], positional_words))
    return convert_arguments(args_type, values)


def convert_arguments(args_type: type[S], values: dict[str, Any]) -> S:
    """Convert and validate plain values. Raises BadRequest."""
    # msgspec ignores unknown fields by default: a misspelled parameter would be dropped silently.
    unknown = [name for name in values if name not in args_type.__struct_fields__]
    if unknown:
        raise BadRequest(f"unknown parameter {unknown[0]!r}", details={"parameters": list(args_type.__struct_fields__)})
    try:
        return msgspec.convert(values, args_type)
    except msgspec.ValidationError as error:
        raise BadRequest(_format_validation_error(args_type, str(error))) from error
    except UnicodeEncodeError as error:  # a byte that is not UTF-8, where one of several words is expected
        raise BadRequest(f"an argument is not valid UTF-8: {error.object!r}") from error


def make_paths_absolute(args: S, cwd: str) -> S:
    """Return the arguments with relative paths resolved against ``cwd``."""
    paths = [argument.field for argument in list_arguments(type(args)) if argument.is_path]
    absolute = {field: os.path.normpath(os.path.join(cwd, path)) for field in paths if (path := getattr(args, field))}
    return msgspec.structs.replace(args, **absolute) if absolute else args


def _format_validation_error(args_type: type[Struct], message: str) -> str:
    """Rewrite an error message of msgspec: prefix the option's name, and list the valid choices."""
    # msgspec has no structured errors: the path of the field is only in the text of the message.
    parts = re.fullmatch(r"(.*) - at `\$\.([a-z_]+).*`", message)
    if parts is None:
        return message
    problem, field = parts.groups()
    choices = next((argument.choices for argument in list_arguments(args_type) if argument.field == field), ())
    invalid_choice = re.fullmatch(r"Invalid enum value ('.*')", problem)
    if invalid_choice and choices:
        problem = f"{invalid_choice[1]} is not one of {', '.join(choices)}"
    return f"--{field.replace('_', '-')}: {problem}"


def _tokenize(known: Sequence[CommandArgument], words: Sequence[str]) -> Iterator[tuple[CommandArgument | None, str]]:
    """Yield each option with its value, and each positional word with None."""
    # Reversed, because removing the last item of a list is cheap and removing the first is not.
    queue = list(reversed(words))
    while queue:
        word = queue.pop()
        if word == "--":
            yield from ((None, rest) for rest in reversed(queue))
            return
        if not word.startswith("-") or re.fullmatch(r"-|-\d.*", word):  # `-` is stdin, `-5` a number
            yield None, word
            continue
        flag, sign, value = _split_flag(word)
        argument = _find_argument(known, flag)
        if argument.is_switch:
            value = value if sign else "true"
        elif not sign:
            if not queue:
                raise BadRequest(f"{flag} requires a value: {argument.doc}")
            value = queue.pop()
        yield argument, value


def _split_flag(word: str) -> tuple[str, str, str]:
    short_number = re.fullmatch(r"(-[A-Za-z])(\d+)", word)  # -n50
    return (short_number[1], "=", short_number[2]) if short_number else word.partition("=")


def _find_argument(known: Sequence[CommandArgument], flag: str) -> CommandArgument:
    for argument in known:
        if not argument.is_positional and flag in argument.flags:
            return argument
    flags = [name for argument in known if not argument.is_positional for name in argument.flags]
    near = find_close_matches(flag, flags)
    hint = f"Did you mean {near[0]}?" if near else f"Valid options: {', '.join(flags) or 'none'}."
    # A text such as `send 1 --help me` looks like an option.
    if not near and any(argument.takes_rest for argument in known):
        hint = f"If {flag} is part of the text, put -- before the text. {hint}"
    raise BadRequest(f"unknown option {flag}", hint=hint, details={"options": flags})


_SWITCH_VALUES = {"true": True, "yes": True, "false": False, "no": False}


def _parse_value(argument: CommandArgument, text: str) -> Any:
    try:
        if argument.is_switch:
            return _SWITCH_VALUES[text]
        return argument.type(text)
    except (ValueError, KeyError) as error:
        names = {int: "an integer", float: "a number", bool: "true or false"}
        raise BadRequest(f"{argument.flags[0]}: {text!r} is not {names[argument.type]}") from error


def _assign_positionals(positionals: Sequence[CommandArgument], words: list[str]) -> dict[str, Any]:
    """Assign words to positionals, in order. Raises BadRequest if there are too few or too many."""
    missing = [positional.value_name for positional in positionals[len(words) :] if positional.is_required]
    if missing:
        raise BadRequest(f"missing argument: <{'> <'.join(missing)}>")
    if positionals and positionals[-1].is_repeated and len(words) >= len(positionals):
        before = len(positionals) - 1
        return _assign_positionals(positionals[:-1], words[:before]) | {positionals[-1].field: tuple(words[before:])}
    if len(words) > len(positionals):
        if not positionals or not positionals[-1].takes_rest:
            raise BadRequest(f"unexpected argument {words[len(positionals)]!r}")
        # The shell has already split the text; its words are joined with single spaces again.
        words = [*words[: len(positionals) - 1], " ".join(words[len(positionals) - 1 :])]
    return {
        positional.field: _parse_value(positional, word) for positional, word in zip(positionals, words, strict=False)
    }


def render_arguments(value: Struct) -> list[str]:
    """Render arguments as words, omitting those with their default value."""
    words: list[str] = []
    positional_words: list[str] = []
    for argument in list_arguments(type(value)):
        field_value = getattr(value, argument.field)
        if not argument.is_required and field_value == argument.default:
            continue
        if argument.is_positional:
            positional_words += field_value if argument.is_repeated else [str(field_value)]
        else:
            words += _render_flag(argument, field_value)
    return [*words, "--", *positional_words] if positional_words else words


def _render_flag(argument: CommandArgument, value: Any) -> list[str]:
    flag = argument.flags[0]
    if argument.is_switch:
        return [flag]
    return [f"{flag}={item}" for item in (value if argument.is_repeated else (value,))]


def render_usage(command: str, args_type: type[Struct]) -> str:
    """Render the usage line: `wait-for <pane> [pattern] [options]`."""
    known = list_arguments(args_type)
    words = [f"<{a.value_name}>" if a.is_required else f"[{a.value_name}]" for a in known if a.is_positional]
    has_options = any(not argument.is_positional for argument in known)
    return " ".join([command, *words, *(["[options]"] if has_options else [])])


def describe_arguments(args_type: type[Struct]) -> list[tuple[str, str]]:
    """Return (syntax, description with default) for each argument, positionals first."""
    known = sorted(list_arguments(args_type), key=lambda argument: not argument.is_positional)
    return [(_render_argument_name(argument), _describe_argument(argument)) for argument in known]


def _render_argument_name(argument: CommandArgument) -> str:
    if argument.is_positional:
        return f"<{argument.value_name}>"
    flags = ", ".join(sorted(argument.flags, key=len))
    return flags if argument.is_switch else f"{flags} <{argument.value_name}>"


def _describe_argument(argument: CommandArgument) -> str:
    if argument.is_required or argument.default in (None, False, "", ()):
        return argument.doc
    default = f"{argument.default:g}" if isinstance(argument.default, float) else argument.default
    return f"{argument.doc} (default {default})"


class GlobalOptions(Struct, frozen=True, kw_only=True):
    format: str = "auto"
    is_wide: bool = False
    is_quiet: bool = False
    wants_help: bool = False
    is_full: bool = False
    fields: tuple[str, ...] = ()
    """Paths of the fields to print; empty for those of the default form."""

    def resolve_format(self, *, is_robot: bool) -> OutputFormat:
        """Return the format, with `auto` resolved."""
        formats: dict[str, OutputFormat] = {"json": "json", "markdown": "markdown", "plain": "plain"}
        return formats.get(self.format) or ("json" if is_robot else "plain")


def split_global_options(argv: Sequence[str]) -> tuple[GlobalOptions, list[str]]:
    """Return the global options and the remaining words. Raises BadRequest."""
    switches: set[str] = set()
    fields: list[str] = []
    rest: list[str] = []
    output_format, queue = "auto", deque(argv)
    # Words after `--` belong to the command: `spawn -- ls --json` must not become JSON output.
    while queue and queue[0] != "--":
        word = queue.popleft()
        if word == "--json":
            output_format = "json"
        elif word in _SWITCH_FIELDS:
            if word == "--quiet":
                _check_quiet_is_no_duration(rest, queue)
            switches.add(_SWITCH_FIELDS[word])
        elif word.partition("=")[0] in ("--quiet", "--help"):
            raise BadRequest(f"{word.partition('=')[0]} takes no value", hint="Write it without `=`.")
        elif word.partition("=")[0] == "--format":
            output_format = _parse_format(_take_value(word, queue))
        elif word.partition("=")[0] == "--fields":
            fields += _parse_fields(_take_value(word, queue))
        else:
            rest.append(word)
    options = GlobalOptions(format=output_format, fields=tuple(fields), **dict.fromkeys(switches, True))
    return options, [*rest, *queue]


def _check_quiet_is_no_duration(before: Sequence[str], after: Sequence[str]) -> None:
    """Reject `wait-for 7 --quiet 2`, which would wait for the text `2` and print less."""
    is_waiting = len(before) > 1 and before[0] in ("wait-for", "wait")
    if is_waiting and after and after[0].removesuffix("s").replace(".", "", 1).isdigit():
        hint = f"To wait until the pane printed nothing for that time: --quiet-for {after[0].removesuffix('s')}."
        raise BadRequest("--quiet takes no value: it prints only the result", hint=hint)


def _take_value(word: str, queue: deque[str]) -> str:
    """Return the value of an option: behind its `=`, else the next word; empty if there is none."""
    _, sign, value = word.partition("=")
    return value if sign else (queue.popleft() if queue else "")


def _parse_fields(value: str) -> list[str]:
    paths = [path.strip() for path in value.split(",")]
    if not all(paths):
        raise BadRequest("--fields requires names of fields", hint="For example `--fields id,state,identity.pane_id`.")
    return paths


def _parse_format(value: str) -> str:
    value = _FORMAT_ALIASES.get(value, value)
    if value not in OUTPUT_FORMATS:
        raise BadRequest(f"--format: {value!r} is not one of {', '.join(OUTPUT_FORMATS)}")
    return value

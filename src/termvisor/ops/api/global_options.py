"""The options that every command takes, wherever they stand before a `--`."""

from collections.abc import Sequence
from typing import get_args

from msgspec import Struct

from termvisor.errors import BadRequest
from termvisor.ops.render.text import OutputFormat

OUTPUT_FORMATS = ("auto", *get_args(OutputFormat))
_FORMAT_ALIASES = {"table": "plain", "jsonl": "json"}
"""What a stream's forms are called elsewhere."""
GLOBAL_OPTIONS_HELP = (
    ("--format <auto|json|markdown|plain>", "How to answer; auto is json for `visor robot`, plain for people."),
    ("--json", "Short for --format json."),
    ("-q, --quiet", "Only the answer itself: no titles, no notes, no hints."),
    ("-h, --help", "This text."),
)
_SWITCH_FIELDS = {"-q": "is_quiet", "--quiet": "is_quiet", "-h": "wants_help", "--help": "wants_help"}


class GlobalOptions(Struct, frozen=True, kw_only=True):
    format: str = "auto"
    is_quiet: bool = False
    wants_help: bool = False

    def resolve_format(self, *, is_robot: bool) -> OutputFormat:
        """The form that `auto` stands for."""
        named: dict[str, OutputFormat] = {"json": "json", "markdown": "markdown", "plain": "plain"}
        return named.get(self.format) or ("json" if is_robot else "plain")


def split_global_options(argv: Sequence[str]) -> tuple[GlobalOptions, list[str]]:
    """The options, and the words without them."""
    found: dict[str, bool] = {}
    form, rest, queue = "auto", [], list(argv)
    while queue and queue[0] != "--":
        word = queue.pop(0)
        if word == "--json":
            form = "json"
        elif word in _SWITCH_FIELDS:
            found[_SWITCH_FIELDS[word]] = True
        elif word.partition("=")[0] == "--format":
            form = _parse_format(word, queue)
        else:
            rest.append(word)
    return GlobalOptions(format=form, is_quiet="is_quiet" in found, wants_help="wants_help" in found), rest + queue


def _parse_format(word: str, queue: list[str]) -> str:
    _, sign, value = word.partition("=")
    value = value if sign else (queue.pop(0) if queue else "")
    value = _FORMAT_ALIASES.get(value, value)
    if value not in OUTPUT_FORMATS:
        raise BadRequest(f"--format: {value!r} is not one of {', '.join(OUTPUT_FORMATS)}")
    return value

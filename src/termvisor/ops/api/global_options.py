"""Parse the options that every command accepts, anywhere before a `--`."""

from collections.abc import Sequence
from typing import get_args

from msgspec import Struct

from termvisor.errors import BadRequest
from termvisor.ops.render.text import OutputFormat

OUTPUT_FORMATS = ("auto", *get_args(OutputFormat))
_FORMAT_ALIASES = {"table": "plain", "jsonl": "json"}
"""Names that other tools use for these formats."""
GLOBAL_OPTIONS_HELP = (
    ("--format <auto|json|markdown|plain>", "Output format; auto means json for `visor robot`, else plain."),
    ("--json", "Short for --format json."),
    ("-q, --quiet", "Print only the result: no headings, notes or hints."),
    ("-h, --help", "Show help."),
)
_SWITCH_FIELDS = {"-q": "is_quiet", "--quiet": "is_quiet", "-h": "wants_help", "--help": "wants_help"}


class GlobalOptions(Struct, frozen=True, kw_only=True):
    format: str = "auto"
    is_quiet: bool = False
    wants_help: bool = False

    def resolve_format(self, *, is_robot: bool) -> OutputFormat:
        """Return the format, with `auto` resolved."""
        formats: dict[str, OutputFormat] = {"json": "json", "markdown": "markdown", "plain": "plain"}
        return formats.get(self.format) or ("json" if is_robot else "plain")


def split_global_options(argv: Sequence[str]) -> tuple[GlobalOptions, list[str]]:
    """Return the global options and the remaining words. Raises BadRequest."""
    switches: set[str] = set()
    output_format, rest, queue = "auto", [], list(argv)
    while queue and queue[0] != "--":
        word = queue.pop(0)
        if word == "--json":
            output_format = "json"
        elif word in _SWITCH_FIELDS:
            switches.add(_SWITCH_FIELDS[word])
        elif word.partition("=")[0] == "--format":
            output_format = _parse_format(word, queue)
        else:
            rest.append(word)
    return GlobalOptions(
        format=output_format, is_quiet="is_quiet" in switches, wants_help="wants_help" in switches
    ), rest + queue


def _parse_format(word: str, queue: list[str]) -> str:
    _, sign, value = word.partition("=")
    value = value if sign else (queue.pop(0) if queue else "")
    value = _FORMAT_ALIASES.get(value, value)
    if value not in OUTPUT_FORMATS:
        raise BadRequest(f"--format: {value!r} is not one of {', '.join(OUTPUT_FORMATS)}")
    return value

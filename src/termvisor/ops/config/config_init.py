"""The operation `config_init`: write a config file with every setting, commented out."""

import os
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import StateConflict, Unavailable
from termvisor.model.action.action import WriteConfig
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.settings import LAYOUT, SettingInfo, list_settings
from termvisor.settings_file.toml_document import TomlKey, format_key, format_toml_value
from termvisor.system.files import make_private_folder

_TABLE_ORDER = (
    *("general", "ingest", "storage", "safety", "patterns"),
    *("agents", "workflows", "jobs", "notify", "events", "account", "attach"),
)


class ConfigInitArgs(Struct, frozen=True, kw_only=True):
    """Choose whether to replace an existing file."""

    force: Annotated[bool, Meta(description="Replace an existing file; it is kept as config.toml.old.")] = False


class ConfigInitResult(Struct, frozen=True, kw_only=True):
    path: str
    kept: str | None
    """New path of the replaced file."""


async def run(services: Services, args: ConfigInitArgs) -> ConfigInitResult:
    path = services.paths.config_file
    if os.path.lexists(path) and not args.force:
        raise StateConflict(f"{path} already exists", hint="Edit it, or pass --force to replace it.")
    return ConfigInitResult(path=path, kept=write_template(path))


def write_template(path: str) -> str | None:
    """Write the template; return the new path of an existing file."""
    make_private_folder(os.path.dirname(path), keeps_mode=True)
    kept = path + ".old" if os.path.lexists(path) else None
    try:
        if kept is not None:
            os.replace(path, kept)
        # O_EXCL fails if the file was created in the meantime, and never follows a symbolic link.
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(build_template())
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}") from error
    return kept


def build_template() -> str:
    """Return a config file with the description and default of every setting, commented out, in its tables."""
    head = "# Settings of Termvisor. Uncomment a line to change it; `visor config validate` checks the file.\n"
    rows = list_settings()
    tables = sorted({row.place[:-1]: None for row in rows if row.example is None}, key=_get_table_order)
    parts = [_render_table(table, rows) for table in tables]
    return "".join([head, *parts, *(_render_setting(row) for row in rows if row.example and row.place not in tables)])


def _get_table_order(table: TomlKey) -> tuple[int, TomlKey]:
    # Keys at the top level must come before the first table.
    return _TABLE_ORDER.index(table[0]) if table else -1, table


def _render_table(table: TomlKey, rows: Sequence[SettingInfo]) -> str:
    inside = [row for row in rows if row.place[:-1] == table and not row.example]
    # Entries come last, because some have a header of their own.
    inside += [row for row in rows if row.place == table and row.example]
    header = f"\n[{format_key(table)}]\n" if table else ""
    return header + "".join(_render_setting(row, table) for row in inside)


def _render_setting(row: SettingInfo, table: TomlKey = ()) -> str:
    if row.example:
        example = LAYOUT.render_entries(row.name, row.example).removeprefix(f"[{format_key(table)}]\n")
        form = f"lines `{row.line}`"
    else:
        example = f"{format_key(row.place[-1:])} = {_format_default(row)}"
        form = row.type
    lines = [row.doc, f"Environment: {row.env}, {form}.", *example.splitlines()]
    return "\n" + "".join(f"# {line}\n" for line in lines)


def _format_default(row: SettingInfo) -> str:
    """Format the default, or a placeholder for a setting without one."""
    placeholder = '["…"]' if "tuple" in row.type else "30.0"
    return placeholder if row.default is None else format_toml_value(row.default)


def render_text(result: ConfigInitResult, options: RenderOptions) -> str:
    kept = f"; the old file is {result.kept}" if result.kept else ""
    return sanitize(f"wrote {result.path}{kept}")


OP = Operation(
    name="config_init",
    summary="Write a config file with every setting, commented out.",
    doc="It changes nothing until you uncomment a line. An existing file is replaced only with `--force`.",
    run=run,
    render_text=render_text,
    effect="local",
    list_changes=lambda _services, _args: (WriteConfig(change="init"),),
    exit_statuses=((75, "The file already exists and --force was not given."),),
    examples=(
        OperationExample("config init", "write the file"),
        OperationExample("config init --force", "replace it, keeping the old file"),
    ),
)

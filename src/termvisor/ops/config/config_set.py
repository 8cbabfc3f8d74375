"""The op `config_set`: one setting in the config file, checked before it is written."""

import tomllib
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from termvisor.errors import BadRequest, ConfigError
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.config._settings import find_setting, format_toml_value, get_paths
from termvisor.ops.config.config_validate import find_config_warnings
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact
from termvisor.settings import SettingInfo, flatten_tables, get_environment, parse_setting_text, validate_settings
from termvisor.setup import toml_edit


class ConfigSetArgs(Struct, frozen=True, kw_only=True):
    """Which setting, and its new value."""

    name: Annotated[str, Meta(description="The setting.", extra={"positional": "one", "names": "find_setting"})]
    value: Annotated[
        str,
        Meta(
            description='Its value; a list between commas (patterns: on lines) or as `["a", "b"]`.',
            extra={"positional": "rest"},
        ),
    ]


class ConfigChangeResult(Struct, frozen=True, kw_only=True):
    """``value`` is what the file says now, None where it says nothing any more."""

    path: str
    name: str
    value: str | None
    changed: bool
    overridden_by: str | None
    """A variable in the environment of the caller that wins over the file."""
    needs_restart: bool
    """Whether a running daemon takes it over at its restart only."""
    warnings: tuple[str, ...]


async def run(services: Services, args: ConfigSetArgs) -> ConfigChangeResult:
    row = find_setting(args.name)
    path = get_paths(services).config_file
    before = toml_edit.read_toml_file(path)
    value = _parse_value(row, args.value, _read_kept_entries(row, before, path))
    return write_change(path, row, before, toml_edit.set_value(before, row.name, value))


def _read_kept_entries(row: SettingInfo, before: str, path: str) -> tuple[str, ...]:
    """The entries of a list of names with values that stay, unless they are set anew."""
    return tuple(flatten_tables(tomllib.loads(before), path).get(row.name, ())) if row.is_keyed else ()


def _parse_value(row: SettingInfo, text: str, kept_entries: tuple[str, ...]) -> str:
    """The text as TOML of the setting's type; what the setting cannot be is the caller's mistake."""
    try:
        held = getattr(validate_settings({row.name: parse_setting_text(row, text)}, row.name), row.name)
        if kept_entries:
            held = tuple({entry.partition("=")[0]: entry for entry in (*kept_entries, *held)}.values())
        value = format_toml_value(held)
        if validate_settings(tomllib.loads(f"{row.name} = {value}"), row.name) != validate_settings(
            {row.name: held}, row.name
        ):
            raise BadRequest(f"{row.name}: {text!r} cannot be written to the file")
    except ConfigError as error:
        raise BadRequest(error.message, hint=f"{row.name} is {row.type}: {row.doc}") from error
    except (UnicodeEncodeError, tomllib.TOMLDecodeError, msgspec.MsgspecError) as error:
        raise BadRequest(f"{row.name}: {text!r} cannot be written to the file") from error
    return value


def write_change(path: str, row: SettingInfo, before: str, after: str) -> ConfigChangeResult:
    """Write the text that came of a change, if it differs and the whole of it is right."""
    values = flatten_tables(tomllib.loads(after), path)
    settings = validate_settings(values, path)
    if after != before:
        toml_edit.replace_toml_file(path, after)
    return ConfigChangeResult(
        path=path,
        name=row.name,
        value=redact(format_toml_value(getattr(settings, row.name))) if row.name in values else None,
        changed=after != before,
        overridden_by=row.env if get_environment().get(row.env) else None,
        needs_restart=bool(row.restart),
        warnings=tuple(find_config_warnings(settings)),
    )


def render_text(result: ConfigChangeResult, options: RenderOptions) -> str:
    said = f"{result.name} = {result.value}" if result.value is not None else f"{result.name} is at its default"
    lines = [sanitize(said if result.changed else f"{said}, as before")]
    if result.overridden_by:
        lines.append(options.paint("yellow", f"warning: {result.overridden_by} in the environment wins over the file"))
    lines += [options.paint("yellow", sanitize(f"warning: {text}")) for text in result.warnings]
    if result.changed and not options.is_quiet:
        wish = find_setting(result.name).restart or "visor config reload"
        lines.append(options.paint("dim", f"A running daemon takes it over with `{wish}`."))
    return "\n".join(lines)


OP = Operation(
    name="config_set",
    summary="Set one setting in the config file.",
    doc="""The value is checked before anything is written; comments, order and every other line of the file stay as
they are. Of a list of names with values, such as `workflow_modes`, the other names stay as they are, too;
`visor config unset` ends them all. A file that is broken is left alone. `visor config reload` makes a running daemon
take it over.""",
    args_type=ConfigSetArgs,
    result_type=ConfigChangeResult,
    run=run,
    render_text=render_text,
    effect="local",
    exit_statuses=((78, "The config file is wrong; nothing was written."),),
    examples=(
        OperationExample("config set log_level debug", "log everything"),
        OperationExample("config set tmux_sockets work,/run/tmux/build", "watch these two servers only"),
        OperationExample("config set workflow_modes unstick=off", "only this one; all others stay as they are"),
        OperationExample("config set redact_patterns -- 'ACME-[0-9]{8}'", "one more kind of secret"),
    ),
)

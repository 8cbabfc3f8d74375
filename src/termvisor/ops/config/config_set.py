"""The operation `config_set`: set one setting in the config file.

Invariant: the file is written only if all of it is valid afterwards; all other lines are kept.
"""

import tomllib
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from termvisor.errors import BadRequest, ConfigError
from termvisor.model.action.action import WriteConfig
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.config._settings import find_setting, format_toml_value
from termvisor.ops.config.config_validate import find_config_warnings
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact
from termvisor.settings import SettingInfo, flatten_tables, get_environment, parse_setting_text, validate_settings
from termvisor.setup import toml_edit


class ConfigSetArgs(Struct, frozen=True, kw_only=True):
    """The setting and its new value."""

    name: Annotated[str, Meta(description="The setting.", extra={"positional": "one", "names": "setting"})]
    value: Annotated[
        str,
        Meta(
            description='The value; a list is separated by commas (patterns: by newlines) or `["a", "b"]`.',
            extra={"positional": "rest"},
        ),
    ]


class ConfigChangeResult(Struct, frozen=True, kw_only=True):
    """``value`` is the value in the file, null if it is no longer there."""

    path: str
    name: str
    value: str | None
    changed: bool
    overridden_by: str | None
    """The variable in the caller's environment that overrides the file."""
    needs_restart: bool
    """True if a running daemon applies it only after a restart."""
    warnings: tuple[str, ...]


async def run(services: Services, args: ConfigSetArgs) -> ConfigChangeResult:
    row = find_setting(args.name)
    path = services.paths.config_file
    before = toml_edit.read_toml_file(path)
    value = _parse_value(row, args.value, _read_kept_entries(row, before, path))
    return write_change(path, row, before, toml_edit.set_value(before, row.name, value))


def _read_kept_entries(row: SettingInfo, before: str, path: str) -> tuple[str, ...]:
    """Return the entries of a `name=value` list that are in the file, for merging."""
    return tuple(flatten_tables(tomllib.loads(before), path).get(row.name, ())) if row.is_keyed else ()


def _parse_value(row: SettingInfo, text: str, kept_entries: tuple[str, ...]) -> str:
    """Parse the text as the setting's type and return it as TOML. Raises BadRequest if it is not valid."""
    try:
        value = getattr(validate_settings({row.name: parse_setting_text(row, text)}, row.name), row.name)
        if kept_entries:
            value = tuple({entry.partition("=")[0]: entry for entry in (*kept_entries, *value)}.values())
        toml = format_toml_value(value)
        # Read back what would be written: text that TOML cannot represent must not reach the file.
        if validate_settings(tomllib.loads(f"{row.name} = {toml}"), row.name) != validate_settings(
            {row.name: value}, row.name
        ):
            raise BadRequest(f"{row.name}: {text!r} cannot be written to the file")
    # The value comes from the call, so this is not an error in the config file.
    except ConfigError as error:
        raise BadRequest(error.message, hint=f"{row.name} is {row.type}: {row.doc}") from error
    # Lone surrogates, for example, have no representation in TOML.
    except (UnicodeEncodeError, tomllib.TOMLDecodeError, msgspec.MsgspecError) as error:
        raise BadRequest(f"{row.name}: {text!r} cannot be written to the file") from error
    return toml


def write_change(path: str, row: SettingInfo, before: str, after: str) -> ConfigChangeResult:
    """Write the changed file if it differs. Raises ConfigError, and writes nothing, if it is invalid."""
    values = flatten_tables(tomllib.loads(after), path)
    # Checks the whole file, because another line may be invalid or contradict the new value.
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
    setting = f"{result.name} = {result.value}" if result.value is not None else f"{result.name} is at its default"
    lines = [sanitize(setting if result.changed else f"{setting} (unchanged)")]
    if result.overridden_by:
        lines.append(options.paint("yellow", f"warning: {result.overridden_by} in the environment overrides the file"))
    lines += [options.paint("yellow", sanitize(f"warning: {text}")) for text in result.warnings]
    if result.changed and not options.is_quiet:
        command = find_setting(result.name).restart or "visor config reload"
        lines.append(options.paint("dim", f"Run `{command}` to apply it to a running daemon."))
    return "\n".join(lines)


OP = Operation(
    name="config_set",
    summary="Set one setting in the config file.",
    doc="""The value is checked before anything is written; comments, order and all other lines of the file are kept.
For a list of `name=value` entries, such as `workflow_modes`, the other entries are kept too; `visor config unset`
removes them all. An invalid file is not changed. `visor config reload` applies the setting to a running daemon. A
program needs approval.""",
    run=run,
    render_text=render_text,
    effect="local",
    list_changes=lambda _services, args: (WriteConfig(change="set", name=args.name, value=args.value),),
    exit_statuses=((78, "The config file is invalid; nothing was written."),),
    examples=(
        OperationExample("config set log_level debug", "log everything"),
        OperationExample("config set tmux_sockets work,/run/tmux/build", "watch only these two servers"),
        OperationExample("config set workflow_modes unstick=off", "one workflow; the others are kept"),
        OperationExample("config set redact_patterns -- 'ACME-[0-9]{8}'", "redact another kind of secret"),
    ),
)

"""The operation `config_set`: set one setting in the config file.

Invariant: the file is written only if all of it is valid afterwards; all other lines are kept.
"""

import tomllib
from contextlib import suppress
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from termvisor.errors import BadRequest, ConfigError
from termvisor.model.action.action import WriteConfig
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.config._settings import (
    find_setting,
    find_setting_key,
    format_place,
    format_setting_key,
    select_value,
)
from termvisor.ops.config.config_validate import find_config_warnings
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact
from termvisor.settings import (
    LAYOUT,
    SettingInfo,
    check_config_text,
    get_environment,
    parse_config_text,
    parse_setting_text,
    validate_settings,
)
from termvisor.settings_file.file_layout import SettingKey
from termvisor.settings_file.toml_document import format_toml_value
from termvisor.setup import toml_edit


class ConfigSetArgs(Struct, frozen=True, kw_only=True):
    """The setting and its new value."""

    name: Annotated[str, Meta(description="The setting.", extra={"positional": "one", "names": "setting"})]
    value: Annotated[
        str,
        Meta(
            description="The value, also with a unit (`7d`, `20GB`); a list is separated by commas (patterns: by"
            ' newlines) or `["a", "b"]`.',
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
    row, key = find_setting_key(args.name)
    path = services.paths.config_file
    before = toml_edit.read_toml_file(path)
    flat = parse_config_text(before, path)
    value = _parse_value(row, key, args.value, flat.values.get(row.name, {}))
    return write_change(path, row, key, before, LAYOUT.write_setting(before, flat, row.name, value))


def _parse_value(row: SettingInfo, key: SettingKey, text: str, in_file: Any) -> Any:
    """Parse the text as the setting's type, merged with the other entries. Raises BadRequest if it is not valid."""
    name = format_place(row) if key.entry else row.name
    try:
        value = _merge_entry(in_file, key, _parse_entry(text)) if key.entry else parse_setting_text(row, text)
        if row.is_keyed and not key.entry:
            value = in_file | value
        value = getattr(validate_settings({row.name: value}, name), row.name)
        # Read back what would be written: text that TOML cannot represent must not reach the file.
        toml = tomllib.loads(f"{row.name} = {format_toml_value(value)}")
        if getattr(validate_settings(toml, name), row.name) != value:
            raise BadRequest(f"{row.name}: {text!r} cannot be written to the file")
    # The value comes from the call, so this is not an error in the config file.
    except ConfigError as error:
        # The message begins with the place that it was given, and then with the name of the setting.
        problem = error.message.removeprefix(f"{name}: ").removeprefix(f"{row.name}: ")
        hint = f"{row.name} is {row.type}: {row.doc}"
        raise BadRequest(f"{format_setting_key(row, key)}: {problem}", hint=hint) from error
    # Lone surrogates, for example, have no representation in TOML.
    except (UnicodeEncodeError, tomllib.TOMLDecodeError, msgspec.MsgspecError) as error:
        raise BadRequest(f"{row.name}: {text!r} cannot be written to the file") from error
    except ValueError as error:
        raise BadRequest(f"{row.name}: {error}", hint=f"An entry is `{row.line}`.") from error
    return value


def _parse_entry(text: str) -> Any:
    """Return a list or an inline table as TOML, everything else as text: a pattern may look like TOML."""
    with suppress(tomllib.TOMLDecodeError):
        return tomllib.loads(f"value = {text}")["value"] if text.startswith(("{", "[")) else text
    return text


def _merge_entry(in_file: dict[str, Any], key: SettingKey, value: Any) -> dict[str, Any]:
    entry = {**in_file.get(key.entry, {}), key.field: value} if key.field else value
    return in_file | {key.entry: entry}


def write_change(path: str, row: SettingInfo, key: SettingKey, before: str, after: str) -> ConfigChangeResult:
    """Write the changed file if it differs. Raises ConfigError, and writes nothing, if it is invalid."""
    values = parse_config_text(after, path).values
    # Checks the whole file, because another line may be invalid or contradict the new value.
    settings = check_config_text(after, path)
    value = select_value(getattr(settings, row.name), key) if row.name in values else None
    if after != before:
        toml_edit.replace_toml_file(path, after)
    return ConfigChangeResult(
        path=path,
        name=format_setting_key(row, key),
        value=None if value is None else redact(format_toml_value(value)),
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
A setting is given by its name (`retention`) or its key in the file (`storage.retention`). Entries of agents, prices,
workflows and prompts have keys of their own, such as `agents.aider.command`; the other entries are kept, and a list in
the earlier form is replaced by tables. An invalid file is not changed. `visor config reload` applies the setting to a
running daemon. A program needs approval.""",
    run=run,
    render_text=render_text,
    effect="local",
    list_changes=lambda _services, args: (WriteConfig(change="set", name=args.name, value=args.value),),
    exit_statuses=((78, "The config file is invalid; nothing was written."),),
    examples=(
        OperationExample("config set log_level debug", "log everything"),
        OperationExample("config set tmux_sockets work,/run/tmux/build", "watch only these two servers"),
        OperationExample("config set retention 7d", "keep text for a week"),
        OperationExample("config set workflows.unstick off", "disable one workflow"),
        OperationExample("config set agents.aider.command aider", "treat another program as an agent"),
        OperationExample("config set redact_patterns -- 'ACME-[0-9]{8}'", "redact another kind of secret"),
    ),
)

"""The op `config_set`: one setting in the config file, checked before it is written."""

import tomllib
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from termvisor.errors import BadRequest, ConfigError
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.config._shared import setting, toml, where
from termvisor.ops.config.config_validate import doubts
from termvisor.ops.render.text import Look, clean
from termvisor.redaction import redact
from termvisor.settings import Row, check, environment, flat, written
from termvisor.setup import toml_edit as config_file


class ConfigSet(Struct, frozen=True, kw_only=True):
    """Which setting, and its new value."""

    name: Annotated[str, Meta(description="The setting.", extra={"positional": "one", "names": "setting"})]
    value: Annotated[
        str,
        Meta(
            description='Its value; a list between commas (patterns: on lines) or as `["a", "b"]`.',
            extra={"positional": "rest"},
        ),
    ]


class ConfigChanged(Struct, frozen=True, kw_only=True):
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


async def run(world: World, wanted: ConfigSet) -> ConfigChanged:
    row = setting(wanted.name)
    path = where(world).config_file
    before = config_file.read(path)
    value = _value(row, wanted.value, _kept(row, before, path))
    return change(path, row, before, config_file.set_value(before, row.name, value))


def _kept(row: Row, before: str, path: str) -> tuple[str, ...]:
    """The entries of a list of names with values that stay, unless they are set anew."""
    return tuple(flat(tomllib.loads(before), path).get(row.name, ())) if row.is_keyed else ()


def _value(row: Row, text: str, kept: tuple[str, ...]) -> str:
    """The text as TOML of the setting's type; what the setting cannot be is the caller's mistake."""
    try:
        held = getattr(check({row.name: written(row, text)}, row.name), row.name)
        if kept:
            held = tuple({entry.partition("=")[0]: entry for entry in (*kept, *held)}.values())
        value = toml(held)
        if check(tomllib.loads(f"{row.name} = {value}"), row.name) != check({row.name: held}, row.name):
            raise BadRequest(f"{row.name}: {text!r} cannot be written to the file")
    except ConfigError as error:
        raise BadRequest(error.message, hint=f"{row.name} is {row.type}: {row.doc}") from error
    except (UnicodeEncodeError, tomllib.TOMLDecodeError, msgspec.MsgspecError) as error:
        raise BadRequest(f"{row.name}: {text!r} cannot be written to the file") from error
    return value


def change(path: str, row: Row, before: str, after: str) -> ConfigChanged:
    """Write the text that came of a change, if it differs and the whole of it is right."""
    values = flat(tomllib.loads(after), path)
    settings = check(values, path)
    if after != before:
        config_file.replace(path, after)
    return ConfigChanged(
        path=path,
        name=row.name,
        value=redact(toml(getattr(settings, row.name))) if row.name in values else None,
        changed=after != before,
        overridden_by=row.env if environment().get(row.env) else None,
        needs_restart=bool(row.restart),
        warnings=tuple(doubts(settings)),
    )


def plain(told: ConfigChanged, look: Look) -> str:
    said = f"{told.name} = {told.value}" if told.value is not None else f"{told.name} is at its default"
    lines = [clean(said if told.changed else f"{said}, as before")]
    if told.overridden_by:
        lines.append(look.paint("yellow", f"warning: {told.overridden_by} in the environment wins over the file"))
    lines += [look.paint("yellow", clean(f"warning: {text}")) for text in told.warnings]
    if told.changed and not look.is_quiet:
        wish = setting(told.name).restart or "visor config reload"
        lines.append(look.paint("dim", f"A running daemon takes it over with `{wish}`."))
    return "\n".join(lines)


OP = Op(
    name="config_set",
    summary="Set one setting in the config file.",
    doc="""The value is checked before anything is written; comments, order and every other line of the file stay as
they are. Of a list of names with values, such as `workflow_modes`, the other names stay as they are, too;
`visor config unset` ends them all. A file that is broken is left alone. `visor config reload` makes a running daemon
take it over.""",
    Input=ConfigSet,
    Output=ConfigChanged,
    run=run,
    plain=plain,
    effect="local",
    exits=((78, "The config file is wrong; nothing was written."),),
    examples=(
        Example("config set log_level debug", "log everything"),
        Example("config set tmux_sockets work,/run/tmux/build", "watch these two servers only"),
        Example("config set workflow_modes unstick=off", "only this one; all others stay as they are"),
        Example("config set redact_patterns -- 'ACME-[0-9]{8}'", "one more kind of secret"),
    ),
)

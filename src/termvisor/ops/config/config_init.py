"""The operation `config_init`: write a config file with every setting, commented out."""

import os
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import StateConflict, Unavailable
from termvisor.model.action.action import WriteConfig
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.config._settings import format_toml_value
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.settings import SettingInfo, list_settings
from termvisor.system.files import make_private_folder


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
    return ConfigInitResult(path=path, kept=_write_template(path))


def _write_template(path: str) -> str | None:
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
    """Return a config file with the description and default of every setting, commented out."""
    head = "# Settings of Termvisor. Uncomment a line to change it; `visor config validate` checks the file.\n"
    return head + "".join(
        f"\n# {row.doc}\n# Environment: {row.env}. {row.type}\n# {row.name} = {_format_example(row)}\n"
        for row in list_settings()
    )


def _format_example(row: SettingInfo) -> str:
    """Format the default, or a placeholder for a setting without one."""
    return '["…"]' if row.default is None else format_toml_value(row.default)


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

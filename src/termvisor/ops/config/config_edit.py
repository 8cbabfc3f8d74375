"""The operation `config_edit`: tell the path of the config file. In a terminal the client opens it in an editor."""

from msgspec import Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, sanitize


class ConfigEditArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


class ConfigEditResult(Struct, frozen=True, kw_only=True):
    path: str


async def run(services: Services, _args: ConfigEditArgs) -> ConfigEditResult:
    return ConfigEditResult(path=services.paths.config_file)


def render_text(result: ConfigEditResult, options: RenderOptions) -> str:
    path = sanitize(result.path)
    return (
        path
        if options.is_quiet
        else f"{path}: `visor config edit` opens it in a terminal, `visor config set` edits it."
    )


OP = Operation(
    name="config_edit",
    summary="Edit the config file in your editor, and validate it.",
    doc="""Opens VISUAL or EDITOR, else the first of `editor`, `nano` and `vi`. Without a config file it starts with one
in which every setting is commented out. An invalid file is reported with its line and may be edited again; a running
daemon keeps its settings until `visor config reload`. Without a terminal only the path is printed.""",
    run=run,
    render_text=render_text,
    effect="local",
    exit_statuses=((69, "No editor was found, or it failed."), (78, "The file is invalid.")),
    examples=(OperationExample("config edit", "edit the settings"),),
)

"""The operation `config_path`: show the paths of this instance."""

from msgspec import Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import copy_fields
from termvisor.ops.render.text import RenderOptions, sanitize


class ConfigPathArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


class ConfigPathResult(Struct, frozen=True, kw_only=True):
    config_file: str
    data_dir: str
    runtime_dir: str
    database: str
    raw_dir: str
    log_file: str
    daemon_socket: str


async def run(services: Services, _args: ConfigPathArgs) -> ConfigPathResult:
    return copy_fields(ConfigPathResult, services.paths)


def render_text(result: ConfigPathResult, options: RenderOptions) -> str:
    if options.is_quiet:
        return sanitize(result.config_file)
    return "\n".join(f"{name:<13}  {sanitize(getattr(result, name))}" for name in result.__struct_fields__)


OP = Operation(
    name="config_path",
    summary="Show the paths of the config file, the data and the socket.",
    doc="""`VISOR_CONFIG_DIR`, `VISOR_DATA_DIR` and `VISOR_RUNTIME_DIR` change them; instances with different
directories are independent.""",
    run=run,
    render_text=render_text,
    effect="local",
    examples=(OperationExample("config path", "all paths"), OperationExample("config path -q", "only the config file")),
)

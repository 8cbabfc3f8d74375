import tomllib
from pathlib import Path

from termvisor import __version__
from termvisor.ops.api.services import LocalServices
from termvisor.testing.operation_calls import run_command


def test_the_program_and_the_package_have_one_version() -> None:
    project = tomllib.loads((Path(__file__).parents[4] / "pyproject.toml").read_text())["project"]
    assert project["version"] == __version__


async def test_the_version_is_printed_without_a_daemon() -> None:
    assert (await run_command(LocalServices(), "--version", "-q")).out == f"{__version__}\n"
    assert (await run_command(LocalServices(), "version")).out.startswith(f"visor {__version__} (Python 3.")
    assert (await run_command(LocalServices(), "robot", "version")).envelope["data"]["schema_version"] == 1

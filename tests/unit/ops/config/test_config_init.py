import stat
import tomllib
from pathlib import Path

from termvisor.ops.api.services import LocalServices
from termvisor.ops.config.config_init import build_template
from termvisor.settings import Paths, list_settings, load_settings
from termvisor.testing.operation_calls import run_command


def _build_services(tmp_path: Path) -> LocalServices:
    return LocalServices(Paths(*(str(tmp_path / name) for name in ("config", "data", "run"))))


async def test_a_private_file_with_every_setting_is_written(tmp_path: Path) -> None:
    result = await run_command(_build_services(tmp_path), "config", "init")
    path = tmp_path / "config" / "config.toml"
    assert result.out == f"wrote {path}\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert all(f"# {row.name} = " in path.read_text() for row in list_settings())
    assert load_settings(_build_services(tmp_path).configuration[0], {}) == load_settings(
        Paths("/none", "/none", "/none"), {}
    )


async def test_an_existing_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "config" / "config.toml"
    path.parent.mkdir()
    path.write_text("colour = 'never'\n")
    result = await run_command(_build_services(tmp_path), "robot", "config", "init")
    assert (result.status, result.envelope["error"]["code"]) == (75, "conflict")
    assert path.read_text() == "colour = 'never'\n"


async def test_a_replaced_config_file_is_kept_as_backup(tmp_path: Path) -> None:
    path = tmp_path / "config" / "config.toml"
    path.parent.mkdir()
    path.write_text("colour = 'never'\n")
    data = (await run_command(_build_services(tmp_path), "robot", "config", "init", "--force")).envelope["data"]
    assert Path(data["kept"]).read_text() == "colour = 'never'\n"
    assert path.read_text() == build_template()


async def test_a_folder_that_cannot_be_created_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("a file")
    result = await run_command(_build_services(tmp_path), "config", "init")
    assert (result.status, result.out) == (69, "")
    assert "hint: " in result.err


def test_the_commented_defaults_are_valid() -> None:
    lines = [line.removeprefix("# ") for line in build_template().splitlines() if " = " in line and "…" not in line]
    values = tomllib.loads("\n".join(lines))
    assert {row.name: values[row.name] for row in list_settings() if isinstance(row.default, (str, int, float))} == {
        row.name: row.default for row in list_settings() if isinstance(row.default, (str, int, float))
    }

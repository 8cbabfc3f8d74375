import re
import stat
from pathlib import Path

from termvisor.ops.api.services import LocalServices
from termvisor.ops.config.config_init import build_template
from termvisor.settings import Paths, Settings, check_config_text, list_settings, load_settings
from termvisor.testing.operation_calls import run_command


def _build_services(tmp_path: Path) -> LocalServices:
    return LocalServices(Paths(*(str(tmp_path / name) for name in ("config", "data", "run"))))


async def test_a_private_file_with_every_setting_is_written(tmp_path: Path) -> None:
    result = await run_command(_build_services(tmp_path), "config", "init")
    path = tmp_path / "config" / "config.toml"
    assert result.out == f"wrote {path}\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text()
    assert [row.name for row in list_settings() if f"Environment: {row.env}, " not in text] == []
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


def test_the_commented_lines_are_valid_and_say_the_defaults() -> None:
    example = re.compile(r"# (\[.*\]|[\w.\"*-]+ = .*)")
    lines = [line[2:] if example.fullmatch(line) else line for line in build_template().splitlines()]
    changed = {
        "agent_programs",
        "agent_resume",
        "agent_prices",
        "compaction_prompts",
        "workflow_modes",
        "raw_retention",
    }
    loaded = check_config_text("\n".join(line for line in lines if "…" not in line), "config.toml")
    assert {
        name for name in Settings.__struct_fields__ if getattr(loaded, name) != getattr(Settings(), name)
    } == changed

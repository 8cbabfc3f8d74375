from pathlib import Path

import pytest

from termvisor.ops.api.services import LocalServices
from termvisor.ops.config.config_validate import find_config_warnings
from termvisor.settings import Paths, Settings
from termvisor.testing.operation_calls import run_command


@pytest.fixture
def services(tmp_path: Path) -> LocalServices:
    return LocalServices(Paths(*(str(tmp_path) for _ in range(3))))


async def test_a_missing_file_is_ok(services: LocalServices) -> None:
    result = await run_command(services, "config", "validate")
    assert (result.status, "does not exist; using the defaults" in result.out) == (0, True)


async def test_a_valid_file_is_ok(services: LocalServices, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("baseline_lines = 10\n")
    data = (await run_command(services, "robot", "config", "validate")).envelope["data"]
    assert (data["exists"], data["settings_in_file"], data["warnings"]) == (True, ["baseline_lines"], [])


@pytest.mark.parametrize(
    "text", ["baseline_lines = -1", "unheard_of = 1", "colour = 'loud'", "= x", "redact_patterns = ['(']"]
)
async def test_an_invalid_file_is_a_config_error(services: LocalServices, tmp_path: Path, text: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    result = await run_command(services, "robot", "config", "validate")
    assert (result.status, result.envelope["error"]["code"]) == (78, "config_error")


async def test_an_unknown_variable_is_found_with_the_nearest_name(
    services: LocalServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VISOR_RETENTON", "VISOR_XYZZY", "VISOR_LOG", "VISOR_DATA_DIR", "VISOR_ACCOUNT"):
        monkeypatch.setenv(name, "error" if name == "VISOR_LOG" else "1")
    warnings = (await run_command(services, "robot", "config", "validate")).envelope["data"]["warnings"]
    assert warnings == [
        "VISOR_RETENTON in the environment is not a setting: did you mean VISOR_RETENTION?",
        "VISOR_XYZZY in the environment is not a setting: `visor config show --effective` lists the settings",
    ]


def test_suspicious_settings_are_warnings() -> None:
    odd = Settings(thin_interval=20.0, segment_bytes=1 << 20, recorder_cap_bytes=1 << 16, tmux_program="no-such-tmux")
    assert [text.split()[0] for text in find_config_warnings(odd)] == [
        "thin_interval",
        "recorder_cap_bytes",
        "tmux_program:",
    ]
    assert list(find_config_warnings(Settings())) == []


def test_a_notification_channel_without_its_setting_is_a_warning() -> None:
    assert list(
        find_config_warnings(Settings(notify_ways=("terminal", "webhook", "command"), notify_command=("beep",)))
    ) == ["notify_ways contains webhook, but notify_webhook_url is not set"]

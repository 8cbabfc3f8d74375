from pathlib import Path

import pytest

from termvisor.ops.api.services import LocalServices
from termvisor.settings import Paths, load_settings
from termvisor.testing.operation_calls import run_command


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    monkeypatch.delenv("VISOR_LOG", raising=False)
    return Paths(*(str(tmp_path / name) for name in ("config", "data", "run")))


def _write_config(places: Paths, text: str) -> Path:
    path = Path(places.config_file)
    path.parent.mkdir(mode=0o700)
    path.write_text(text)
    return path


async def test_a_setting_is_written_and_takes_effect(places: Paths) -> None:
    result = await run_command(LocalServices(places), "config", "set", "log-level", "debug")
    assert result.out == 'log_level = "debug"\nRun `visor config reload` to apply it to a running daemon.\n'
    assert load_settings(places, {}).log_level == "debug"
    assert (
        await run_command(LocalServices(places), "config", "set", "log_level", "debug")
    ).out == 'log_level = "debug" (unchanged)\n'


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("tmux_sockets", "work,/run/tmux/x", ("work", "/run/tmux/x")),
        ("tmux_sockets", '["a b", "c,d"]', ("a b", "c,d")),
        ("tmux_sockets", "", ()),
        ("redact_patterns", "[A-Z]{3}-[0-9,]+", ("[A-Z]{3}-[0-9,]+",)),
        ("redact_patterns", "one\ntwo", ("one", "two")),
        ("thin_interval", "2.5", 2.5),
        ("baseline_lines", "100", 100),
        ("tmux_program", 'say "hi"\x7f\\', 'say "hi"\x7f\\'),
    ],
)
async def test_a_text_is_parsed_as_the_settings_type(places: Paths, name: str, text: str, value: object) -> None:
    assert (await run_command(LocalServices(places), "config", "set", name, text)).status == 0
    assert getattr(load_settings(places, {}), name) == value


@pytest.mark.parametrize(
    ("name", "text", "expected_error"),
    [
        ("thin_interval", "0", ">= 0.1"),
        ("thin_interval", "nan", "thin_interval"),
        ("thin_interval", "soon", "thin_interval"),
        ("log_level", "loud", "log_level"),
        ("redact_patterns", "(", "not a supported regular expression"),
        ("tmux_program", "\udcff", "cannot be written"),
    ],
)
async def test_an_invalid_value_is_rejected_and_nothing_is_written(
    places: Paths, name: str, text: str, expected_error: str
) -> None:
    result = await run_command(LocalServices(places), "config", "set", name, text)
    assert (result.status, expected_error in result.err) == (2, True)
    assert not Path(places.config_file).exists()


async def test_an_unknown_setting_suggests_the_closest_name(places: Paths) -> None:
    result = await run_command(LocalServices(places), "config", "set", "loglevel", "debug")
    assert result.err == "visor: unknown setting 'loglevel'\nhint: Did you mean log_level?\n"


@pytest.mark.parametrize("text", ["log_level = = 1\n", "log_level = 'info'\nnonsense = 1\n"])
async def test_an_invalid_config_file_is_not_changed(places: Paths, text: str) -> None:
    path = _write_config(places, text)
    result = await run_command(LocalServices(places), "robot", "config", "set", "log_level", "debug")
    assert (result.envelope["error"]["code"], path.read_text()) == ("config_error", text)


async def test_an_invalid_value_in_the_file_can_be_replaced(places: Paths) -> None:
    _write_config(places, "log_level = 'loud'  # too much\n")
    await run_command(LocalServices(places), "config", "set", "log_level", "debug")
    assert Path(places.config_file).read_text() == 'log_level = "debug"  # too much\n'


async def test_an_overriding_variable_is_a_warning(places: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISOR_LOG", "error")
    result = (await run_command(LocalServices(places), "config", "set", "log_level", "debug")).out
    assert "warning: VISOR_LOG in the environment overrides the file" in result
    doubtful = (await run_command(LocalServices(places), "config", "set", "thin_interval", "30")).out
    assert "warning: thin_interval is longer than full_interval" in doubtful


async def test_a_setting_in_a_table_is_not_set_twice(places: Paths) -> None:
    path = _write_config(places, "[notify]\nrate = 3\n")
    result = await run_command(LocalServices(places), "config", "set", "notify_rate", "4")
    assert (result.status, path.read_text()) == (78, "[notify]\nrate = 3\n")
    assert "notify_rate is set twice" in result.err


async def test_other_entries_of_a_keyed_list_are_kept(places: Paths) -> None:
    services = LocalServices(places)
    for given in ("*=off", "unstick=on", "unstick=ask", "a=on,b=off"):
        await run_command(services, "config", "set", "workflow_modes", given)
    assert load_settings(places, {}).workflow_modes == ("*=off", "unstick=ask", "a=on", "b=off")
    await run_command(services, "config", "unset", "workflow_modes")
    assert load_settings(places, {}).workflow_modes == ()

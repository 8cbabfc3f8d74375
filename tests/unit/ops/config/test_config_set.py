from pathlib import Path

import pytest

from termvisor.ops.api.local_services import LocalServices
from termvisor.settings import Paths, load_settings
from termvisor.testing.operation_calls import run_command


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    monkeypatch.delenv("VISOR_LOG", raising=False)
    return Paths(*(str(tmp_path / name) for name in ("config", "data", "run")))


def _written(places: Paths, text: str) -> Path:
    path = Path(places.config_file)
    path.parent.mkdir(mode=0o700)
    path.write_text(text)
    return path


async def test_a_setting_is_written_and_holds(places: Paths) -> None:
    answered = await run_command(LocalServices(places), "config", "set", "log-level", "debug")
    assert answered.out == 'log_level = "debug"\nA running daemon takes it over with `visor config reload`.\n'
    assert load_settings(places, {}).log_level == "debug"
    assert (
        await run_command(LocalServices(places), "config", "set", "log_level", "debug")
    ).out == 'log_level = "debug", as before\n'


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
async def test_a_text_becomes_the_value_it_means(places: Paths, name: str, text: str, value: object) -> None:
    assert (await run_command(LocalServices(places), "config", "set", name, text)).status == 0
    assert getattr(load_settings(places, {}), name) == value


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("thin_interval", "0", ">= 0.1"),
        ("thin_interval", "nan", "thin_interval"),
        ("thin_interval", "soon", "thin_interval"),
        ("log_level", "loud", "log_level"),
        ("redact_patterns", "(", "not a regular expression"),
        ("tmux_program", "\udcff", "cannot be written"),
    ],
)
async def test_what_a_setting_cannot_be_is_refused_and_nothing_is_written(
    places: Paths, name: str, text: str, told: str
) -> None:
    answered = await run_command(LocalServices(places), "config", "set", name, text)
    assert (answered.status, told in answered.err) == (2, True)
    assert not Path(places.config_file).exists()


async def test_an_unknown_setting_is_answered_with_the_nearest(places: Paths) -> None:
    answered = await run_command(LocalServices(places), "config", "set", "loglevel", "debug")
    assert answered.err == "visor: there is no setting 'loglevel'\nhint: Did you mean log_level?\n"


@pytest.mark.parametrize("text", ["log_level = = 1\n", "log_level = 'info'\nnonsense = 1\n"])
async def test_a_broken_file_is_left_alone(places: Paths, text: str) -> None:
    path = _written(places, text)
    answered = await run_command(LocalServices(places), "robot", "config", "set", "log_level", "debug")
    assert (answered.envelope["error"]["code"], path.read_text()) == ("config_error", text)


async def test_a_wrong_value_in_the_file_is_mended(places: Paths) -> None:
    _written(places, "log_level = 'loud'  # too much\n")
    await run_command(LocalServices(places), "config", "set", "log_level", "debug")
    assert Path(places.config_file).read_text() == 'log_level = "debug"  # too much\n'


async def test_what_keeps_the_value_from_holding_is_told(places: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISOR_LOG", "error")
    told = (await run_command(LocalServices(places), "config", "set", "log_level", "debug")).out
    assert "warning: VISOR_LOG in the environment wins over the file" in told
    doubtful = (await run_command(LocalServices(places), "config", "set", "thin_interval", "30")).out
    assert "warning: thin_interval is longer than full_interval" in doubtful


async def test_what_stands_in_a_table_is_not_set_a_second_time(places: Paths) -> None:
    path = _written(places, "[notify]\nrate = 3\n")
    answered = await run_command(LocalServices(places), "config", "set", "notify_rate", "4")
    assert (answered.status, path.read_text()) == (78, "[notify]\nrate = 3\n")
    assert "notify_rate is set twice" in answered.err


async def test_of_a_list_of_names_with_values_the_other_names_stay(places: Paths) -> None:
    world = LocalServices(places)
    for given in ("*=off", "unstick=on", "unstick=ask", "a=on,b=off"):
        await run_command(world, "config", "set", "workflow_modes", given)
    assert load_settings(places, {}).workflow_modes == ("*=off", "unstick=ask", "a=on", "b=off")
    await run_command(world, "config", "unset", "workflow_modes")
    assert load_settings(places, {}).workflow_modes == ()

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


async def test_a_setting_is_set_where_the_file_has_it(places: Paths) -> None:
    path = _write_config(places, "retention = 3\n[notify]\nrate = 3\n")
    for name, value in (("notify_rate", "4"), ("storage.retention", "7d"), ("general.log_level", "debug")):
        assert (await run_command(LocalServices(places), "config", "set", name, value)).status == 0
    assert path.read_text() == 'retention = 7.0\n[notify]\nrate = 4\n\n[general]\nlog_level = "debug"\n'


async def test_other_entries_of_a_keyed_setting_are_kept(places: Paths) -> None:
    services = LocalServices(places)
    for given in ("*=off", "unstick=on", "unstick=ask", "a=on,b=off"):
        await run_command(services, "config", "set", "workflow_modes", given)
    assert load_settings(places, {}).workflow_modes == {"*": "off", "unstick": "ask", "a": "on", "b": "off"}
    await run_command(services, "config", "unset", "workflow_modes")
    assert load_settings(places, {}).workflow_modes == {}


async def test_entries_are_set_and_removed_by_their_keys(places: Paths) -> None:
    services = LocalServices(places)
    commands = [
        ("agents.aider.command", "aider"),
        ("agents.aider.states", "{ waiting_input = '^> ?$' }"),
        ("agents.claude_code.resume", "my-claude --resume {session}"),
        ("prices.gpt-4.1*", "{ input = 2, output = 8 }"),
        ("prices.gpt-4.1*.cached", "0.5"),
        ("compaction.prompts.*", "Read AGENTS.md again."),
        ("workflows.handle_usage_limits", "on"),
        ("pause_on_limit", "no"),
    ]
    for name, value in commands[:-1]:
        assert (await run_command(services, "config", "set", name, value)).status == 0, name
    await run_command(services, "config", "set", "pause_on_limit", "false")
    assert (
        Path(places.config_file).read_text()
        == """[agents.aider]
command = "aider"
states = {waiting_input = "^> ?$"}

[agents.claude_code]
resume = "my-claude --resume {session}"

[prices."gpt-4.1*"]
input = 2.0
output = 8.0
cached = 0.5

[compaction.prompts]
"*" = "Read AGENTS.md again."

[workflows]

[workflows.handle_usage_limits]
mode = "on"
pause_on_limit = false
"""
    )
    result = await run_command(services, "config", "set", "agents.aider.command", "aider-ce")
    assert result.out.splitlines()[0] == 'agents.aider.command = "aider-ce"'
    assert (await run_command(services, "config", "get", "agents.aider.command")).out == '"aider-ce"\n'
    removed = await run_command(services, "config", "unset", "agents.aider", "-q")
    assert removed.out == "agents.aider is at its default\n"
    assert load_settings(places, {}).agent_programs == {}


async def test_setting_an_entry_turns_the_earlier_form_into_tables(places: Paths) -> None:
    path = _write_config(places, "# mine\nworkflow_modes = ['a=on', 'b=off']  # why\ncolour = 'never'\n")
    await run_command(LocalServices(places), "config", "set", "workflows.b", "ask")
    assert path.read_text() == '# mine\n# why\ncolour = \'never\'\n\n[workflows]\na = "on"\nb = "ask"\n'


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("agents.aider.comand", "x", "unknown setting 'agents.aider.comand'"),
        ("prices.x.input", "3", "Object missing required field `output`"),
        ("workflows.unstick", "maybe", "Invalid enum value 'maybe'"),
        ("agents.aider.command", "(", "has an invalid pattern"),
        ("agent_programs", "aider", "'aider' is not of the form"),
        ("total_bytes", "1000", "1000 is too small"),
    ],
)
async def test_an_invalid_entry_is_explained(places: Paths, name: str, value: str, expected: str) -> None:
    result = await run_command(LocalServices(places), "config", "set", name, value)
    assert (result.status, expected in result.err) == (2, True), result.err
    assert not Path(places.config_file).exists()

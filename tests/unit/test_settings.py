"""Settings from environment, file and defaults; private folders; the nonce."""

import os
from pathlib import Path

import pytest

from termvisor import settings
from termvisor.errors import ConfigError, StorageError, Unavailable
from termvisor.model.agent.agent_program import AgentProgram
from termvisor.model.agent.price import ModelPrice
from termvisor.model.agent.state import StateName
from termvisor.settings import Paths, Settings
from termvisor.system import shell_nonce


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    (tmp_path / "config").mkdir()
    return Paths(str(tmp_path / "config"), str(tmp_path / "data"), str(tmp_path / "run"))


def write_config(paths: Paths, text: str) -> Paths:
    Path(paths.config_file).write_text(text)
    return paths


def test_without_a_file_and_environment_the_defaults_apply(paths: Paths) -> None:
    assert settings.load_settings(paths, {}) == Settings()


def test_the_file_overrides_defaults_and_the_environment_overrides_the_file(paths: Paths) -> None:
    write_config(paths, 'thin_interval = 2.5\nbaseline_lines = 10\ntmux_sockets = ["work"]\n')
    loaded = settings.load_settings(paths, {"VISOR_BASELINE_LINES": "20"})
    assert (loaded.thin_interval, loaded.baseline_lines, loaded.tmux_sockets) == (2.5, 20, ("work",))


def test_an_empty_environment_variable_is_ignored(paths: Paths) -> None:
    assert settings.load_settings(paths, {"VISOR_TMUX_SOCKETS": ""}).tmux_sockets is None


@pytest.mark.parametrize(
    ("text", "environ", "why"),
    [
        ("a = " + "9" * 5000, {}, "config.toml"),
        ("a = " + "[" * 3000, {}, "config.toml"),
        ('redact_patterns = ["a{1,99999}"]', {}, "repeats expanded"),
        ('redact_patterns = ["' + "(" * 2000 + '"]', {}, "regular expression"),
        ("", {"VISOR_TMUX_PROGRAM": "\udcff"}, "VISOR_TMUX_PROGRAM in the environment is not UTF-8"),
    ],
    ids=["a long number", "deep brackets", "a heavy pattern", "a deep pattern", "no UTF-8"],
)
def test_an_unparsable_file_is_a_config_error(paths: Paths, text: str, environ: dict[str, str], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        settings.load_settings(write_config(paths, text), environ)


@pytest.mark.parametrize("text", ["work,/run/tmux/x", "work:/run/tmux/x", "work\n/run/tmux/x", "work,,/run/tmux/x,"])
def test_a_list_in_the_environment_accepts_several_separators(paths: Paths, text: str) -> None:
    assert settings.load_settings(paths, {"VISOR_TMUX_SOCKETS": text}).tmux_sockets == ("work", "/run/tmux/x")


def test_the_log_level_has_a_short_environment_name(paths: Paths) -> None:
    assert settings.load_settings(paths, {"VISOR_LOG": "debug"}).log_level == "debug"


def test_no_color_means_never_unless_overridden(paths: Paths) -> None:
    assert settings.load_settings(paths, {"NO_COLOR": "1"}).colour == "never"
    assert settings.load_settings(paths, {"NO_COLOR": "1", "VISOR_COLOUR": "always"}).colour == "always"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("thin_intervall = 1\n", "thin_intervall"),
        ("thin_interval = 0\n", "thin_interval"),
        ('thin_interval = "soon"\n', "thin_interval"),
        ('log_level = "loud"\n', "log_level"),
        ("thin_interval = \n", "line 1"),
        ('redact_patterns = ["("]\n', "redact_patterns"),
    ],
)
def test_an_invalid_file_is_rejected_with_the_position(paths: Paths, text: str, expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        settings.load_settings(write_config(paths, text), {})


def test_an_unreadable_file_is_reported_with_its_path(paths: Paths) -> None:
    os.mkdir(paths.config_file)
    with pytest.raises(ConfigError, match=r"config\.toml: Is a directory"):
        settings.load_settings(paths, {})


def test_a_fifo_as_config_file_does_not_block(paths: Paths) -> None:
    os.mkfifo(paths.config_file)
    with pytest.raises(ConfigError, match=r"config\.toml: not a regular file"):
        settings.load_settings(paths, {})


def test_a_config_file_that_is_not_text_is_rejected(paths: Paths) -> None:
    Path(paths.config_file).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError):
        settings.load_settings(paths, {})


def test_every_setting_has_a_doc_a_type_and_a_unique_environment_variable() -> None:
    rows = settings.list_settings()
    assert [row.name for row in rows if not row.doc or not row.type] == []
    assert len({row.env for row in rows}) == len(rows) == len(Settings.__struct_fields__)
    assert {row.env[:6] for row in rows} == {"VISOR_"}


def test_visor_variables_override_xdg_variables() -> None:
    env = {"HOME": "/home/ada", "XDG_DATA_HOME": "/xdg", "VISOR_DATA_DIR": "/own", "VISOR_RUNTIME_DIR": "/run/own"}
    paths = settings.resolve_paths(env)
    assert paths == Paths("/home/ada/.config/termvisor", "/own", "/run/own")


def test_paths_follow_xdg_variables_or_the_home_folder() -> None:
    xdg = {"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d", "XDG_RUNTIME_DIR": "/r"}
    assert settings.resolve_paths(xdg) == Paths("/c/termvisor", "/d/termvisor", "/r/termvisor")
    bare = settings.resolve_paths({"HOME": "/h"})
    assert (bare.config_dir, bare.data_dir) == ("/h/.config/termvisor", "/h/.local/share/termvisor")
    assert str(os.getuid()) in bare.runtime_dir


def test_all_files_of_an_instance_are_in_its_own_folders() -> None:
    paths = Paths("/c", "/d", "/r")
    assert {paths.config_file, paths.database, paths.raw_dir, paths.log_file, paths.nonce_file} == {
        "/c/config.toml",
        "/d/visor.db",
        "/d/raw",
        "/d/log/daemon.log",
        "/d/nonce",
    }
    sockets = (paths.daemon_socket, paths.daemon_lock, paths.recorder_socket, paths.demo_socket)
    assert {os.path.dirname(path) for path in sockets} == {"/r"}


def test_prepared_folders_are_private(paths: Paths) -> None:
    settings.make_instance_folders(paths)
    folders = (paths.runtime_dir, paths.data_dir, paths.raw_dir, os.path.dirname(paths.log_file))
    assert {os.stat(path).st_mode & 0o777 for path in folders} == {0o700}


def test_a_folder_that_others_can_read_is_made_private(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o755)
    settings.make_private_folder(str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_of_another_user_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other_uid = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: other_uid)
    with pytest.raises(Unavailable, match="not a folder owned by you"):
        settings.make_private_folder(str(tmp_path))


def test_a_link_to_a_folder_of_another_user_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    other_uid = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: other_uid)
    with pytest.raises(Unavailable, match="not a folder owned by you"):
        settings.make_private_folder(str(tmp_path / "link"))


def test_a_file_instead_of_a_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="cannot create"):
        settings.make_private_folder(str(tmp_path / "file"))


def test_a_runtime_path_too_long_for_a_socket_is_rejected_with_a_hint() -> None:
    with pytest.raises(ConfigError) as caught:
        settings.make_instance_folders(Paths("/c", "/d", "/r" * 60))
    assert "VISOR_RUNTIME_DIR" in caught.value.hint


def test_a_foreign_folder_is_refused_before_anything_is_created(tmp_path: Path, paths: Paths) -> None:
    (tmp_path / "home" / "documents").mkdir(parents=True)
    with pytest.raises(ConfigError, match="home is not empty and was not made by Termvisor"):
        settings.make_instance_folders(Paths(paths.config_dir, str(tmp_path / "home"), paths.runtime_dir))
    assert os.listdir(tmp_path / "home") == ["documents"]
    assert not os.path.exists(paths.runtime_dir)


def test_the_socket_folder_follows_tmux(tmp_path: Path) -> None:
    assert settings.get_tmux_socket_folder({"TMUX_TMPDIR": str(tmp_path)}) == f"{tmp_path}/tmux-{os.getuid()}"
    assert settings.get_tmux_socket_folder({}).endswith(f"/tmux-{os.getuid()}")


def test_settings_that_need_a_restart_name_the_command() -> None:
    needs = {row.name: row.restart for row in settings.list_settings() if row.restart}
    assert needs["tmux_program"] == "visor daemon restart"
    assert needs["segment_bytes"] == needs["recorder_cap_bytes"] == "visor down && visor up"
    assert "log_level" not in needs


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("tmux_sockets", "a,b:c", ["a", "b", "c"]),
        ("tmux_sockets", '["a,b"]', ["a,b"]),
        ("tmux_sockets", "[a", ["[a"]),
        ("redact_patterns", "[a-z]:x,y", ["[a-z]:x,y"]),
        ("log_level", "debug", "debug"),
    ],
)
def test_a_text_is_parsed_as_the_type_of_its_setting(name: str, text: str, value: object) -> None:
    (row,) = [row for row in settings.list_settings() if row.name == name]
    assert settings.parse_setting_text(row, text) == value


def test_the_nonce_is_created_once_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "data" / "nonce"
    first = shell_nonce.load_nonce(str(path))
    assert len(first) == 32
    assert shell_nonce.load_nonce(str(path)) == first
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert os.listdir(path.parent) == ["nonce"]


@pytest.mark.parametrize("found", [b"", b"\n", b"half a no", b"$(rm -rf x)\n", b"\xff" * 40])
def test_an_invalid_nonce_is_replaced(tmp_path: Path, found: bytes) -> None:
    (tmp_path / "nonce").write_bytes(found)
    made = shell_nonce.load_nonce(str(tmp_path / "nonce"))
    assert len(made) == 32
    assert (tmp_path / "nonce").read_text() == f"{made}\n"


def test_a_nonce_created_concurrently_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, theirs = tmp_path / "nonce", "ab" * 16
    link = os.link

    def late(source: str, target: str) -> None:
        path.write_text(theirs + "\n")
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    assert shell_nonce.load_nonce(str(path)) == theirs
    assert os.listdir(tmp_path) == ["nonce"]


def test_a_nonce_that_cannot_be_stored_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "nonce").mkdir()
    with pytest.raises(StorageError, match="nonce"):
        shell_nonce.load_nonce(str(tmp_path / "nonce"))


@pytest.mark.parametrize("name", ["retention", "raw_retention", "total_bytes", "pane_bytes", "snapshot_interval"])
def test_retention_cannot_be_negative(name: str) -> None:
    assert getattr(settings.validate_settings({name: 0}, "here"), name) == 0
    with pytest.raises(ConfigError, match=name):
        settings.validate_settings({name: -1}, "here")


def test_raw_retention_defaults_to_retention() -> None:
    assert settings.validate_settings({}, "here").raw_retention is None
    assert settings.validate_settings({"raw_retention": "0.5"}, "here").raw_retention == 0.5


def test_settings_with_a_common_prefix_may_be_in_a_table(paths: Paths) -> None:
    write_config(paths, 'log_level = "debug"\n[notify]\nways = ["desktop"]\nrate = 3\n')
    loaded = settings.load_settings(paths, {})
    assert (loaded.log_level, loaded.notify_ways, loaded.notify_rate) == ("debug", ("desktop",), 3)
    assert settings.load_settings(paths, {"VISOR_NOTIFY_RATE": "4"}).notify_rate == 4


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("notify_rate = 1\n[notify]\nrate = 2\n", "notify_rate is set twice"),
        ("[notify]\nwayz = []\n", r"line 2: unknown key 'wayz' in \[notify\]; did you mean ways\?"),
        ('[notify]\nways = ["pigeon"]\n', "pigeon"),
        ("[notify]\nrate = 0\n", "notify_rate"),
        ('[notify]\nwebhook_url = "http://example.org/"\n', "notify_webhook_url: must be https"),
        ('[notify]\nwebhook_secret = "hunter2"\n', "env:NAME or file:/path"),
        ('[notify]\ncommand = [""]\n', "notify_command"),
        (
            "# old\n\n[storage]\nretenton = 7\n",
            r"line 4: unknown key 'retenton' in \[storage\]; did you mean retention",
        ),
        ("[storag]\nretention = 7\n", r"line 2: .* did you mean storage\.retention\?"),
        (
            "[storage]\n\ntotal_bytes = 1000\n",
            "line 3: total_bytes: 1000 is too small: .* at least 64 MB",
        ),
        ("[storage]\nretention = '7 parsecs'\n", "line 2: retention: Expected `float`"),
        (
            "[workflows]\nmax_concurent = 3\n",
            r"line 2: .*: 3 is no mode .* did you mean max_concurrent",
        ),
        ("[agents.aider]\ncomand = 'x'\n", r"line 2: unknown key 'comand' in \[agents.aider\]; did you mean command"),
        (
            "[agents.a]\ncommand = 'x'\n[agents.b]\ncommand = '('\n",
            "line 4: .* agents.b has an invalid pattern",
        ),
        (
            "[agents.a]\nstates = { running = 'x' }\n",
            "line 2: .* agents.a: .* missing required field `command`",
        ),
        ("[prices.a]\ninput = 1\noutput = -2\n", "line 2: agent_prices: prices.a has the price -2"),
        ("[agents.codex]\nresume = 'codex'\n", "line 2: agent_resume: agents.codex does not contain {session}"),
        ("[compaction.prompts]\ncodex = '/clear'\n", "line 2: compaction_prompts: .*codex starts with '/'"),
        ("workflow_modes = ['a=on']\n[workflows]\na = 'off'\n", "line 3: workflow_modes: 'a' is set twice"),
        ("workflow_modes = ['a=maybe']\n", "line 1: workflow_modes: 'a=maybe' has no valid mode"),
    ],
)
def test_an_error_in_a_table_names_the_full_setting(paths: Paths, text: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        settings.load_settings(write_config(paths, text), {})


def test_command_words_are_separated_by_newlines_in_the_environment(paths: Paths) -> None:
    assert settings.load_settings(paths, {"VISOR_NOTIFY_COMMAND": "say\n--to=a,b"}).notify_command == (
        "say",
        "--to=a,b",
    )


TABLES = """
log_level = "debug"

[storage]
retention = "7d"
total_bytes = "2 GB"

[agents]
idle_after = 3

[agents.aider]
command = 'aider'
resume = "aider --restore {session}"
states = { waiting_approval = '\\(Y\\)es', waiting_input = ["^> ?$", "^x> ?$"] }

[prices."gpt-4.1*"]
input = 2
output = 8

[compaction.prompts]
"*" = "Read AGENTS.md again."

[workflows]
max_concurrent = 5
unstick = "off"

[workflows.handle_usage_limits]
mode = "on"
pause_on_limit = false
"""


def test_a_file_in_tables_is_loaded(paths: Paths) -> None:
    loaded = settings.load_settings(write_config(paths, TABLES), {})
    assert (loaded.log_level, loaded.retention, loaded.total_bytes, loaded.agent_idle_after) == (
        "debug",
        7,
        2 * 10**9,
        3,
    )
    states: dict[StateName, str | tuple[str, ...]] = {
        "waiting_approval": r"\(Y\)es",
        "waiting_input": ("^> ?$", "^x> ?$"),
    }
    assert loaded.agent_programs == {"aider": AgentProgram(command="aider", states=states)}
    assert loaded.agent_resume == {"aider": "aider --restore {session}"}
    assert loaded.agent_prices == {"gpt-4.1*": ModelPrice(input=2, output=8)}
    assert loaded.compaction_prompts == {"*": "Read AGENTS.md again."}
    assert loaded.workflow_modes == {"unstick": "off", "handle_usage_limits": "on"}
    assert (loaded.workflow_max_concurrent, loaded.pause_on_limit) == (5, False)
    assert list(settings.find_old_forms(paths.config_file)) == []


OLD_FORMS = r"""
retention = 7.5
agent_programs = [
  '\baider\b :: waiting_approval :: \(Y\)es/\(N\)o',
  '\baider\b :: waiting_input :: ^> $',
  '\baider\b :: waiting_input :: ^x> $',
  'goose :: running :: esc',
  '\baider\b :: running :: wait',
]
agent_prices = ["claude-opus-* :: 15 :: 75 :: 1.5", "* :: 1 :: 5"]
compaction_prompts = ["claude_code :: Read CLAUDE.md again.", "* :: Read AGENTS.md again."]

[agent]
resume = ["claude_code :: my-claude --resume {session}"]
inbox = "native"

[workflow]
modes = ["*=off", "unstick=ask"]
max_concurrent = 2
"""
"""As earlier versions wrote it."""


def test_a_file_of_an_earlier_version_is_loaded_and_its_new_form_says_the_same(paths: Paths) -> None:
    loaded = settings.load_settings(write_config(paths, OLD_FORMS), {})
    assert (loaded.retention, loaded.agent_inbox, loaded.workflow_max_concurrent) == (7.5, "native", 2)
    assert [*loaded.agent_programs] == ["aider", "goose", "aider_2"], "the order of the rows decides"
    assert loaded.agent_resume == {"claude_code": "my-claude --resume {session}"}
    warnings = list(settings.find_old_forms(paths.config_file))
    assert [warning.partition(" is the earlier form")[0].rpartition("config.toml, ")[2] for warning in warnings] == [
        "line 3: agent_programs",
        "line 10: agent_prices",
        "line 11: compaction_prompts",
        "line 14: agent.resume",
        "line 18: workflow.modes",
    ]
    # The new form of each warning, pasted over the old one, loads as the same settings.
    new = "retention = 7.5\n" + "\n".join(warning.partition("\n")[2] for warning in warnings)
    again = settings.load_settings(write_config(paths, new + "\nmax_concurrent = 2\n"), {"VISOR_AGENT_INBOX": "native"})
    assert again == loaded
    assert list(settings.find_old_forms(paths.config_file)) == []


def test_the_environment_keeps_the_form_with_lines_and_overrides_the_file(paths: Paths) -> None:
    environ = {
        "VISOR_WORKFLOW_MODES": "*=on,unstick=off",
        "VISOR_AGENT_PROGRAMS": "aider :: running :: esc",
        "VISOR_AGENT_PRICES": "a :: 1 :: 2\nb :: 3 :: 4",
    }
    loaded = settings.load_settings(write_config(paths, TABLES), environ)
    assert loaded.workflow_modes == {"*": "on", "unstick": "off"}
    assert loaded.agent_programs == {"aider": AgentProgram(command="aider", states={"running": "esc"})}
    assert [*loaded.agent_prices] == ["a", "b"]
    with pytest.raises(ConfigError, match="VISOR_AGENT_PROGRAMS in the environment: 'aider' is not of the form"):
        settings.load_settings(paths, {"VISOR_AGENT_PROGRAMS": "aider"})
    with pytest.raises(ConfigError, match="VISOR_TOTAL_BYTES in the environment: total_bytes: 5 is too small"):
        settings.load_settings(paths, {"VISOR_TOTAL_BYTES": "5"})

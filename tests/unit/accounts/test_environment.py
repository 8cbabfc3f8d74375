"""Environment of an account; no error contains a credential."""

import os
import sys

import pytest

from termvisor.accounts.environment import can_share_sessions, find_owner, load_account_environment, parse_variables
from termvisor.errors import ConfigError
from termvisor.model.agent.account import Account, AccountStatus

SECRET = "hush-4711"


def build_account(**more) -> Account:
    return Account(**({"service": "openai", "name": "work"} | more))


@pytest.fixture
def env_file(tmp_path):
    path = tmp_path / "work.env"
    path.write_text(f"# mine\n\nexport OPENAI_API_KEY='{SECRET}'\nORG=a b # more\nEMPTY=\n")
    path.chmod(0o600)
    return path


def test_an_env_file_gives_its_variables_and_the_name_of_the_account(env_file):
    assert load_account_environment(build_account(env_file=str(env_file)), "/") == {
        "OPENAI_API_KEY": SECRET,
        "ORG": "a",
        "EMPTY": "",
        "VISOR_ACCOUNT": "openai/work",
    }
    assert (
        load_account_environment(build_account(env_file="~/work.env"), str(env_file.parent))["OPENAI_API_KEY"] == SECRET
    )


def test_an_env_file_that_others_can_read_is_rejected(env_file):
    env_file.chmod(0o640)
    with pytest.raises(ConfigError, match="other users can access"):
        load_account_environment(build_account(env_file=str(env_file)), "/")


def test_a_named_pipe_as_env_file_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(ConfigError, match="not a regular file"):
        load_account_environment(build_account(env_file=str(tmp_path / "pipe")), "/")


def test_a_command_prints_variables():
    command = (sys.executable, "-c", f"print('KEY={SECRET}')")
    assert load_account_environment(build_account(command=command), "/")["KEY"] == SECRET


@pytest.mark.parametrize(
    "command",
    [
        (sys.executable, "-c", f"import sys; print('KEY={SECRET}'); sys.exit('{SECRET}')"),
        (sys.executable, "-c", f"print('{SECRET}')"),
        (sys.executable, "-c", f"import sys; sys.stdout.buffer.write(b'KEY={SECRET}' + bytes([255]))"),
        (sys.executable, "-c", ""),
        ("/no/such/program",),
    ],
)
def test_a_failing_command_is_reported_without_its_output(command):
    with pytest.raises(ConfigError) as caught:
        load_account_environment(build_account(command=command), "/")
    assert SECRET not in f"{caught.value.message}{caught.value.hint}{caught.value.__cause__}"
    assert "config validate" not in caught.value.hint


def test_a_missing_or_hanging_credentials_command_is_reported(monkeypatch):
    with pytest.raises(ConfigError, match="openai/work: /no/such/program was not found"):
        load_account_environment(build_account(command=("/no/such/program",)), "/")
    monkeypatch.setattr("termvisor.accounts.environment._COMMAND_TIMEOUT_S", 0.1)
    with pytest.raises(ConfigError, match="openai/work: sleep timed out after 30 s"):
        load_account_environment(build_account(command=("sleep", "60")), "/")


def test_a_config_folder_is_set_by_the_variable_of_the_service(tmp_path):
    assert load_account_environment(build_account(config_dir=str(tmp_path)), "/")["CODEX_HOME"] == str(tmp_path)
    claude = build_account(service="anthropic", config_dir=str(tmp_path))
    assert load_account_environment(claude, "/")["CLAUDE_CONFIG_DIR"] == str(tmp_path)
    with pytest.raises(ConfigError, match=r"folder .* not found"):
        load_account_environment(build_account(config_dir=str(tmp_path / "gone")), "/")


def test_the_agents_own_login_needs_no_variables():
    assert load_account_environment(build_account(), "/") == {"VISOR_ACCOUNT": "openai/work"}


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(ConfigError, match="cannot read"):
        load_account_environment(build_account(env_file=str(tmp_path / "none")), "/")


@pytest.mark.parametrize("text", ["KEY", "1KEY=x", "K-Y=x", "KEY='x", f"{SECRET}"])
def test_a_malformed_line_is_reported_by_its_number(text):
    with pytest.raises(ConfigError, match="line 2") as caught:
        parse_variables(f"A=1\n{text}\n", "openai/work")
    assert SECRET not in caught.value.message


def test_sessions_are_shared_by_the_same_folder_or_a_link(tmp_path):
    assert can_share_sessions(build_account(env_file="x"), None, str(tmp_path))
    (tmp_path / ".codex" / "sessions").mkdir(parents=True)
    (tmp_path / "apart").mkdir()
    assert not can_share_sessions(build_account(config_dir="~/apart"), None, str(tmp_path))
    (tmp_path / "apart" / "sessions").symlink_to(tmp_path / ".codex" / "sessions")
    assert can_share_sessions(build_account(config_dir="~/apart"), None, str(tmp_path))


def test_session_sharing_is_checked_against_the_current_folder(tmp_path):
    for name in (".codex", "apart"):
        (tmp_path / name / "sessions").mkdir(parents=True)
    apart, usual = build_account(config_dir="~/apart"), build_account(env_file="x")
    assert not can_share_sessions(usual, apart, str(tmp_path))
    assert can_share_sessions(apart, apart, str(tmp_path))


HOME = "/home/me"
MINE = Account(service="openai", name="mine")
SECOND = Account(service="openai", name="second", env_file="~/second.env")
APART = Account(service="openai", name="apart", config_dir="~/.codex-apart")
USUAL = Account(service="openai", name="usual", config_dir="~/.codex")
OTHER = Account(service="google", name="mine")


def find_account_name(env: dict | None, *accounts: Account, used: Account | None = None) -> str:
    found = find_owner("openai", env, [AccountStatus(account=one, is_in_use=one == used) for one in accounts])
    return found.name if found else ""


@pytest.mark.parametrize(
    ("env", "accounts", "used", "whose"),
    [
        ({"HOME": HOME}, (MINE, OTHER), None, "mine"),
        ({"HOME": HOME}, (MINE, SECOND), None, ""),
        ({"HOME": HOME}, (MINE, SECOND), SECOND, "second"),
        ({"HOME": HOME, "VISOR_ACCOUNT": "openai/mine"}, (MINE, SECOND), SECOND, "mine"),
        ({"HOME": HOME, "VISOR_ACCOUNT": "openai/gone"}, (MINE,), MINE, ""),
        ({"HOME": HOME, "CODEX_HOME": f"{HOME}/.codex-apart"}, (MINE, APART), MINE, "apart"),
        ({"HOME": HOME, "CODEX_HOME": f"{HOME}/.codex-else"}, (MINE, APART), MINE, ""),
        ({"HOME": HOME}, (USUAL, APART), APART, "usual"),
        ({"HOME": HOME}, (MINE, APART), None, "mine"),
        (None, (MINE, OTHER), None, "mine"),
        (None, (MINE, SECOND), SECOND, ""),
        ({"HOME": HOME}, (), None, ""),
    ],
)
def test_the_account_of_an_agent_is_found_only_if_certain(env, accounts, used, whose):
    assert find_account_name(env, *accounts, used=used) == whose

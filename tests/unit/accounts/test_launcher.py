"""Starting a program with an account: credentials are only in its environment."""

import os
import subprocess

import pytest

from termvisor.accounts.launcher import build_command_prefix, main

SHOWS = ("sh", "-c", 'echo "$KEY $VISOR_ACCOUNT"; tr "\\0" " " < /proc/$$/cmdline')


@pytest.fixture
def config(tmp_path):
    (tmp_path / "work.env").write_text("KEY=hush-4711\n")
    (tmp_path / "work.env").chmod(0o600)
    (tmp_path / "config.toml").write_text(
        f'[[accounts]]\nservice = "openai"\nname = "work"\nenv_file = "{tmp_path}/work.env"\n'
    )
    return tmp_path


def run_launcher(config, *command: str, ref: str = "openai/work") -> subprocess.CompletedProcess:
    words = [*build_command_prefix(str(config), ref), *command]
    assert not any("hush" in word for word in words)
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=config, env=os.environ)


def test_credentials_are_in_the_environment_and_not_in_arguments(config):
    done = run_launcher(config, *SHOWS)
    environment, argv = done.stdout.splitlines()
    assert (environment, done.returncode) == ("hush-4711 openai/work", 0)
    assert "hush" not in argv


def test_modules_in_the_working_folder_are_not_imported(config):
    (config / "termvisor").mkdir()
    (config / "termvisor" / "__init__.py").write_text("raise SystemExit(9)")
    assert run_launcher(config, "true").returncode == 0


@pytest.mark.parametrize(
    ("command", "ref", "status", "expected_error"),
    [(("true",), "openai/none", 78, "not found"), (("/no/such",), "openai/work", 127, "/no/such")],
)
def test_a_failed_start_is_reported(config, command, ref, status, expected_error):
    done = run_launcher(config, *command, ref=ref)
    assert (done.returncode, expected_error in done.stderr) == (status, True)


@pytest.mark.parametrize("words", [[], ["a", "b", "c"], ["a", "b", "--"]])
def test_wrong_launcher_arguments_print_the_usage(words, capsys):
    assert main(words) == 2
    assert "usage: " in capsys.readouterr().err

"""Reading secrets by reference."""

import os

import pytest

from termvisor.actions.notifications.secret_reference import read_secret
from termvisor.errors import ConfigError


def test_no_reference_is_no_secret():
    assert read_secret("") == ""


def test_a_secret_is_in_the_environment_or_in_a_private_file(monkeypatch, tmp_path):
    monkeypatch.setenv("HOOK_KEY", "hush")
    path = tmp_path / "key"
    path.write_text("hush too\n")
    path.chmod(0o600)
    assert (read_secret("env:HOOK_KEY"), read_secret(f"file:{path}")) == ("hush", "hush too")


@pytest.mark.parametrize(
    ("mode", "data", "why"),
    [(0o644, b"hush", "readable by others"), (0o600, b"\n", "empty"), (0o600, b"\xff\xfe", "not UTF-8 text")],
)
def test_a_file_that_is_open_or_holds_nothing_is_refused_without_showing_it(tmp_path, mode, data, why):
    path = tmp_path / "key"
    path.write_bytes(data)
    path.chmod(mode)
    with pytest.raises(ConfigError, match=why) as error:
        read_secret(f"file:{path}")
    assert "hush" not in error.value.message


def test_a_missing_secret_is_an_error(tmp_path):
    os.mkfifo(tmp_path / "fifo", 0o600)
    for reference, why in (
        ("env:NOT_THERE", "not set"),
        ("file:/no/such", "No such"),
        (f"file:{tmp_path}/fifo", "not a regular file"),
    ):
        with pytest.raises(ConfigError, match=why):
            read_secret(reference)

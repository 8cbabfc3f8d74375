"""Isolate all tests from the user's home, and let them receive Ctrl-C as in a terminal."""

import signal
from collections.abc import Iterator

import pytest

CLEARED_VARIABLES = ("ZDOTDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")


@pytest.fixture(scope="session", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        for name in CLEARED_VARIABLES:
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def handle_sigint() -> None:
    """Restore the SIGINT handler: a background process ignores Ctrl-C, and its children inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

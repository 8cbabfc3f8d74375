"""Isolate all tests from the user's home, let them receive Ctrl-C as in a terminal, and count hypothesis examples."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.fuzz.example_count import scale_example_count

# No deadline: it would measure the load of the machine, and the imports of the first example.
settings.register_profile("no_deadline", deadline=None, max_examples=scale_example_count(100))
settings.load_profile("no_deadline")
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

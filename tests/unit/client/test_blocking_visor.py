"""The blocking client against a real daemon process with fake services."""

import pytest

from termvisor.client import Visor
from termvisor.errors import NotFound, Unavailable
from termvisor.settings import Paths
from tests.unit.fake_daemon import make_private_paths


def test_operations_are_called_by_name_and_return_plain_data(daemon: Paths) -> None:
    with Visor(daemon) as visor:
        assert visor.daemon_pid > 0
        assert len(visor.list_panes()["items"]) == 3
        with pytest.raises(NotFound):
            visor.get_text(pane="99")
        assert visor.get_text(pane="1")["text"] == "hello from 1"


def test_a_stream_has_its_own_connection_so_calls_continue(daemon: Paths) -> None:
    with Visor(daemon) as visor:
        events = visor.watch_events(once=True)
        assert visor.health()["panes_tracked"] == 3
        assert list(events) == []


def test_without_start_a_missing_daemon_is_an_error(folder: str) -> None:
    with pytest.raises(Unavailable, match="no daemon is running"):
        Visor(make_private_paths(folder), start=False)


def test_a_name_with_a_leading_underscore_is_not_an_operation(daemon: Paths) -> None:
    with Visor(daemon) as visor, pytest.raises(AttributeError):
        visor._nothing()

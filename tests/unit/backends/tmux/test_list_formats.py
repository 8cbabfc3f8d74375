"""Parse tmux listings with hostile paths and titles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.backends.pane_source import PaneStatus
from termvisor.backends.tmux.list_formats import (
    FIELD_SEPARATOR,
    RECORD_SEPARATOR,
    parse_pane_list,
    parse_pane_statuses,
    parse_server_info,
)
from termvisor.errors import MuxError

WORDS = [
    "%5",
    "812",
    "$1",
    "2",
    "/dev/pts/7,client-812",
    "@3",
    "2",
    "1",
    "1",
    "/dev/tty",
    "80",
    "24",
    "0",
    "0",
    "0",
    "",
    "9",
    "1",
    "2000",
    "0",
    "0",
]


def build_record(*texts: str, pane: str = "%5", ends: str = "0") -> bytes:
    """Build a record as tmux prints it."""
    return (
        FIELD_SEPARATOR.join(value.encode() for value in (pane, *WORDS[1:-2], ends, WORDS[-1], *texts))
        + RECORD_SEPARATOR
    )


def parse_records(*records: bytes):
    return parse_pane_list(tuple(b"\n".join(records).split(b"\n"))).panes


def test_a_pane_has_all_its_facts():
    (facts,) = parse_records(build_record("work", "build", "make", "/srv/app", "compiling"))
    assert (facts.mux_id, facts.pid, facts.session_name, facts.window_index) == ("%5", 812, "work", 2)
    assert (facts.command, facts.cwd, facts.title) == ("make", "/srv/app", "compiling")
    assert (facts.session_attached, facts.session_clients) == (2, ("/dev/pts/7", "client-812"))
    assert (facts.piped, facts.dead_status, facts.dead_signal, facts.history_limit) == (True, None, 9, 2000)


@pytest.mark.parametrize(
    ("option", "ends"), [("0", False), ("off", False), ("1", True), ("on", True), ("keep-last", True)]
)
def test_exit_unattached_is_parsed_for_old_and_new_versions_of_tmux(option, ends):
    (facts,) = parse_records(build_record("s", "w", "c", "/", "t", ends=option))
    assert facts.session_ends_unattached is ends


def test_a_window_linked_into_two_sessions_is_one_pane():
    texts = ("w", "c", "/", "t")
    assert [facts.session_name for facts in parse_records(build_record("a", *texts), build_record("b", *texts))] == [
        "a"
    ]


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20), min_size=5, max_size=5))
def test_no_name_can_forge_a_pane_or_a_field(texts):
    facts = parse_records(build_record(*texts), build_record("s", "w", "c", "/", "t", pane="%6"))
    assert [one.mux_id for one in facts] == ["%5", "%6"]


def test_a_path_that_imitates_a_record_stays_a_path():
    evil = "/tmp/<00>\n" + build_record("x", "x", "x", "x", "x", pane="%0").decode().replace(
        FIELD_SEPARATOR.decode(), "<guess>"
    )
    evil = evil.replace(RECORD_SEPARATOR.decode(), "<guess>\n")
    for texts in (("s", "w", "c", evil, "t"), (evil, evil, evil, evil, evil)):
        assert [one.mux_id for one in parse_records(build_record(*texts))] == ["%5"]


def test_an_unreadable_listing_is_an_error_and_not_a_guess():
    with pytest.raises(MuxError):
        parse_records(build_record("s", "w", "c", "/", "t").replace(RECORD_SEPARATOR, b"!"))
    with pytest.raises(MuxError):
        parse_records(build_record("s", "w", "c", "/", "t", "one more"))


def test_the_short_listing_has_the_status_of_every_pane():
    body = (
        FIELD_SEPARATOR.join((b"%1", b"10", b"0", b"0")) + RECORD_SEPARATOR,
        FIELD_SEPARATOR.join((b"%2", b"11", b"1", b"1")) + RECORD_SEPARATOR,
    )
    assert parse_pane_statuses(body) == {"%1": PaneStatus(10, False, False), "%2": PaneStatus(11, True, True)}


def test_the_server_info_is_parsed_or_empty():
    assert parse_server_info((FIELD_SEPARATOR.join((b"7", b"3.3a", b"0", b"/tmp/s")) + RECORD_SEPARATOR,))["pid"] == "7"
    assert parse_server_info(()) == {}


def test_separators_are_printable_and_differ():
    assert FIELD_SEPARATOR.isascii() and FIELD_SEPARATOR.decode().isprintable()
    assert FIELD_SEPARATOR != RECORD_SEPARATOR

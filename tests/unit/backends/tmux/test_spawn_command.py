"""Build spawn commands; test_pane_control runs them with a real tmux."""

import pytest

from termvisor.backends.tmux.spawn_command import build_spawn_command
from termvisor.errors import BadRequest
from termvisor.model.action.action import Spawn


def test_a_session_by_name():
    assert build_spawn_command(Spawn(where="session", session="work", name="main"), None) == (
        'new-session -d -P -F \'#{pane_id} #{pane_pid}\' -s "work" -n "main"'
    )


@pytest.mark.parametrize(("session", "target"), [("work", '"=work:"'), ("$3", '"\\0443:"')])
def test_a_window_opens_in_exactly_that_session(session, target):
    assert f"-t {target}" in build_spawn_command(Spawn(where="window", session=session), None)


def test_a_pane_is_split_from_the_named_one():
    assert "split-window -d" in build_spawn_command(Spawn(where="pane"), "%5")
    assert "-h -t %5" in build_spawn_command(Spawn(where="pane", is_horizontal=True), "%5")


@pytest.mark.parametrize("where", ["window", "pane"])
def test_no_place_is_guessed(where):
    with pytest.raises(BadRequest):
        build_spawn_command(Spawn(where=where), None)


@pytest.mark.parametrize("more", [{"keeps_failure": True}, {"account": "openai/work"}])
def test_a_program_that_may_fail_keeps_its_pane_by_a_command_in_it(more):
    told = build_spawn_command(Spawn(where="session", command=("codex", "resume", "a b"), **more), None)
    assert "remain-on-exit failed" in told
    assert told.endswith(' "sh" "codex" "resume" "a b"')


def test_any_other_closes_with_its_program():
    assert "remain-on-exit" not in build_spawn_command(Spawn(where="session", command=("make", "test")), None)

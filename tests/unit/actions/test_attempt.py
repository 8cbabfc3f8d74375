"""Hashes, redaction and audit entries of actions."""

from msgspec.structs import replace

from termvisor.actions.attempt import format_pane_location, hash_action, hash_text, redact_action
from termvisor.model.action.action import Notify, SendText, Spawn
from termvisor.model.action.approval import MAX_SHOWN_CHARS
from termvisor.model.ids import PaneId
from tests.unit.actions.test_preconditions import ME, VIEW, build_attempt

SECRET = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
ACTION = SendText(pane=PaneId(1), text="make test")


def test_a_hash_identifies_the_action_and_the_pane_instance():
    own = hash_action(ACTION, VIEW)
    assert own == hash_action(SendText(pane=PaneId(1), text="make test"), VIEW)
    assert own != hash_action(replace(ACTION, text="make test "), VIEW)
    assert own != hash_action(replace(ACTION, enter=False), VIEW)
    respawned = replace(VIEW, instance=replace(VIEW.instance, generation=1))
    assert own != hash_action(ACTION, respawned)


def test_a_redacted_action_has_no_secret_and_bounded_length():
    seen = redact_action(Spawn(where="session", command=("login", SECRET), env={"TOKEN": SECRET}))
    assert SECRET not in str(seen)
    long = redact_action(replace(ACTION, text="x " * 5000))["text"]
    assert isinstance(long, str) and len(long) < 4200 and long.endswith("(10000 characters)")


def test_a_text_hash_ignores_wrapping_and_frames():
    assert hash_text("fix the tests", b"k") == hash_text("│ > fix\n  the tests │", b"k")
    assert hash_text("fix the tests", b"k") != hash_text("fix the test", b"k")
    assert hash_text("fix the tests", b"k") != hash_text("fix the tests", b"other")


def test_an_audit_entry_names_actor_action_and_pane():
    entry = replace(build_attempt(ACTION), correlation="c", view=VIEW).build_entry("intent", 5, outcome="")
    assert (entry.kind, entry.pane, entry.actor, entry.action["text"]) == ("send_text", 1, ME, "make test")
    assert entry.action_hash == hash_action(ACTION, VIEW)
    assert entry.place == format_pane_location(VIEW) and "work:1.0 %1, pid 7" in entry.place


def test_an_action_is_shown_with_all_its_fields():
    spawn = Spawn(where="window", command=("run", SECRET), env={"TOKEN": SECRET, "N": "1"}, is_horizontal=True)
    shown = redact_action(spawn)
    assert shown | {"command": 0, "env": 0} == {
        "type": "spawn", "where": "window", "target": "local", "place": "", "server": "", "session": "",
        "beside": None, "is_horizontal": True, "command": 0, "cwd": "", "env": 0, "name": "", "account": "",
        "keeps_failure": False,
    }  # fmt: skip
    assert (shown["command"][0], shown["env"]["N"]) == ("run", "1")
    assert SECRET not in str(shown)
    long = redact_action(Notify(title="x" * (MAX_SHOWN_CHARS + 1), text="y" * MAX_SHOWN_CHARS))
    assert long["title"] == "x" * MAX_SHOWN_CHARS + f"… ({MAX_SHOWN_CHARS + 1} characters)"
    assert long["text"] == "y" * MAX_SHOWN_CHARS

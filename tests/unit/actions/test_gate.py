"""The gate with a real shell in a real tmux."""

import shlex

import pytest

from termvisor.clock import NS
from termvisor.errors import Conflict, NeedsApproval, Refused, StaleSnapshot
from termvisor.model.action.action import Kill, SendKeys, SendText, Spawn
from termvisor.model.action.preconditions import Preconditions
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.actions.gate_scene import ME, open_gate_scene
from tests.unit.wait_until import wait_until


@pytest.fixture
async def scene():
    with make_short_folder() as folder:
        async with open_gate_scene(folder) as opened:
            yield opened


async def test_a_command_is_typed_submitted_and_confirmed_by_its_shell(scene):
    mux_id, pane = await scene.start_bash()
    outcome = await scene.send(pane, "echo it-$((40 + 2)) > /dev/tty", key="k1")
    assert (outcome.status, outcome.why) == ("delivered", "command_started")
    await wait_until(lambda: "it-42" in scene.capture_screen(mux_id))
    stages = [(one.stage, one.outcome) for one in await scene.store.audit.list()]
    assert stages == [("intent", ""), ("outcome", "delivered")]
    intent, ended = await scene.store.audit.list()
    assert intent.at < outcome.sent_at < ended.at, "the time of Enter"
    assert await scene.store.audit.verify() is None
    assert scene.policy.reported == [("delivered", "command_started")]


async def test_the_same_key_types_nothing_twice(scene):
    mux_id, pane = await scene.start_bash()
    first = await scene.send(pane, "echo once", key="k")
    await scene.wait_until_at_prompt(pane)
    again = await scene.send(pane, "echo once", key="k")
    assert (again.status, again.is_repeated, again.correlation) == ("delivered", True, first.correlation)
    assert 0 < first.sent_at - again.sent_at < NS, "when the first call began"
    assert scene.capture_screen(mux_id).count("echo once") == 1
    with pytest.raises(Conflict, match="another action"):
        await scene.send(pane, "echo twice", key="k")


async def test_without_enter_the_text_waits_in_the_input(scene):
    mux_id, pane = await scene.start_bash()
    outcome = await scene.send(pane, "echo later", enter=False)
    assert (outcome.status, outcome.why) == ("typed_not_submitted", "as_wanted")
    assert scene.capture_screen(mux_id).rstrip().endswith("$ echo later")
    with pytest.raises(StaleSnapshot, match="input is not empty") as refused:
        await scene.send(pane, "echo more")
    assert refused.value.details["why"] == "input_not_empty"


async def test_a_wrapped_prompt_in_a_narrow_pane_is_seen_too(scene):
    mux_id, pane = await scene.start_bash()
    scene.tmux("resize-window", "-t", mux_id, "-x", "20", "-y", "10")
    outcome = await scene.send(pane, "echo a rather long line that wraps, and says end")
    assert outcome.status == "delivered"
    await wait_until(lambda: scene.capture_screen(mux_id).count("says end") == 2)


async def test_a_denied_action_is_logged_and_not_executed(scene):
    mux_id, pane = await scene.start_bash()
    scene.policy.answer = "deny"
    with pytest.raises(Refused, match="the test says so"):
        await scene.send(pane, "echo never")
    assert "never" not in scene.capture_screen(mux_id)
    (entry,) = await scene.store.audit.list()
    assert (entry.stage, entry.outcome, entry.action["text"]) == ("outcome", "denied", "echo never")


async def test_an_approval_is_requested_and_valid_once(scene):
    mux_id, pane = await scene.start_bash()
    scene.policy.answer = "ask"
    with pytest.raises(NeedsApproval) as asked:
        await scene.send(pane, "echo please")
    number = asked.value.details["question"]
    await scene.approvals.answer(number, "allow", ME)
    assert (await scene.send(pane, "echo please")).status == "delivered"
    await scene.wait_until_at_prompt(pane)
    with pytest.raises(NeedsApproval):
        await scene.send(pane, "echo please")
    assert scene.capture_screen(mux_id).count("echo please") == 1


async def test_a_running_program_gets_no_text_meant_for_the_shell(scene):
    _, pane = await scene.start_bash()
    await scene.send(pane, "sleep 600")
    with pytest.raises(StaleSnapshot) as refused:
        await scene.send(pane, "echo no")
    assert refused.value.details["why"] == "not_at_prompt"


async def test_a_program_that_reads_gets_the_text_if_the_caller_allows_it(scene):
    mux_id, pane = await scene.start_bash()
    await scene.send(pane, "cat")
    outcome = await scene.send(pane, "hello there", into="program")
    assert (outcome.status, outcome.why) == ("delivered", "left_input")
    await wait_until(lambda: scene.capture_screen(mux_id).count("hello there") == 2)


async def test_a_program_that_does_not_read_is_not_reported_as_delivered(scene, monkeypatch):
    monkeypatch.setattr("termvisor.actions.text_typer.CONFIRM_TIMEOUT_S", 1.0)
    mux_id, pane = await scene.start_bash()
    await scene.send(pane, "python3 -c 'import select; print(4 * 10 + 2); select.select([], [], [])'")
    await wait_until(lambda: "42" in scene.capture_screen(mux_id))
    outcome = await scene.send(pane, "hello there", into="program")
    assert (outcome.status, outcome.why) == ("unknown", "not_confirmed")


async def test_a_sleeping_program_gets_no_enter(scene, monkeypatch):
    monkeypatch.setattr("termvisor.actions.text_typer.SEEN_TIMEOUT_S", 1.0)
    mux_id, pane = await scene.start_bash()
    await scene.send(pane, "sleep 600")
    await wait_until(lambda: scene.tmux.read_format(mux_id, "#{pane_current_command}") == "sleep")
    outcome = await scene.send(pane, "hello there", into="program")
    assert (outcome.status, outcome.why) == ("typed_not_submitted", "not_reading")
    await scene.gate.run(Kill(pane=pane, signal="TERM"), ME, Preconditions())
    await wait_until(lambda: scene.read_activity(pane) == ("prompt", True))
    await wait_until(lambda: scene.capture_screen(mux_id).rstrip().endswith("$ hello there"))


async def test_the_foreground_process_gets_the_signal_and_the_shell_does_not(scene):
    _, pane = await scene.start_bash()
    await scene.send(pane, "sleep 600")
    outcome = await scene.gate.run(Kill(pane=pane), ME, Preconditions())
    assert outcome.status == "done"
    await wait_until(lambda: scene.read_activity(pane) == ("prompt", True))
    with pytest.raises(StaleSnapshot, match="no program runs"):
        await scene.gate.run(Kill(pane=pane), ME, Preconditions())


async def test_keys_are_pressed(scene):
    _, pane = await scene.start_bash()
    await scene.send(pane, "sleep 600")
    await scene.gate.run(SendKeys(pane=pane, keys=("C-c",)), ME, Preconditions())
    await wait_until(lambda: scene.read_activity(pane) == ("prompt", True))


async def test_a_program_is_started_in_a_new_window(scene):
    outcome = await scene.gate.run(Spawn(where="window", session="work", command=("sleep", "600")), ME, Preconditions())
    assert outcome.status == "done"
    number = await scene.wait_for_capture(outcome.mux_pane)
    closed = await scene.gate.run(Kill(pane=number, closes_pane=True), ME, Preconditions())
    assert closed.status == "done"


async def test_the_conditions_of_a_reader_are_checked_without_an_entry_in_the_audit_log(scene):
    _, pane = await scene.start_bash()
    await scene.gate.check_conditions(pane, Preconditions(at_prompt=True))
    with pytest.raises(StaleSnapshot, match="--if-state does not hold") as refused:
        await scene.gate.check_conditions(pane, Preconditions(states=frozenset({"command"})))
    assert refused.value.details["why"] == "if_state"
    assert await scene.store.audit.list() == []


async def test_a_preview_executes_nothing(scene):
    mux_id, pane = await scene.start_bash()
    verdict, found, _ = await scene.gate.preview(
        SendText(pane=pane, text="echo x"), ME, Preconditions(screen="nowhere")
    )
    assert verdict.answer == "allow" and found is not None and found.why == "if_screen"
    assert "echo x" not in scene.capture_screen(mux_id)
    assert await scene.store.audit.list() == []


async def test_a_secret_in_a_command_is_not_logged(scene):
    secret = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    _, pane = await scene.start_bash()
    assert (await scene.send(pane, f": login {secret}")).status == "delivered"
    with open(scene.places.database + "-wal", "rb") as wal, open(scene.places.database, "rb") as db:
        assert secret.encode() not in wal.read() + db.read()


async def test_several_lines_are_pasted_seen_and_submitted_as_one_command(scene):
    mux_id, pane = await scene.start_bash()
    outcome = await scene.send(pane, "for i in 1 2; do\n  echo line-$i > /dev/tty\ndone")
    assert (outcome.status, outcome.why) == ("delivered", "command_started")
    await wait_until(lambda: "line-1" in scene.capture_screen(mux_id) and "line-2" in scene.capture_screen(mux_id))


async def test_an_action_may_have_a_given_correlation(scene):
    _, pane = await scene.start_bash()
    outcome = await scene.send(pane, "true", correlation="c0ffee")
    assert outcome.correlation == "c0ffee"
    assert {one.correlation for one in await scene.store.audit.list()} == {"c0ffee"}


async def test_a_preview_refuses_several_lines_even_while_output_is_missing(scene):
    mux_id = scene.tmux.start_session(command="cat")
    pane = await scene.wait_for_capture(mux_id)
    _, found, _ = await scene.gate.preview(SendText(pane=pane, text="one\ntwo"), ME, Preconditions())
    assert found is not None and (found.why, found.is_due_to_text) == ("multi_line", True)


async def test_a_nested_shell_is_known_as_a_shell(scene):
    mux_id, pane = await scene.start_bash()
    await scene.send(pane, "PS1=nested: bash --norc --noprofile")
    await wait_until(lambda: "nested:" in scene.capture_screen(mux_id).split("\n")[-1])
    snapshot = await scene.panes.take_snapshot(pane, Preconditions())
    assert (snapshot.view.activity.kind, snapshot.foreground.is_shell) == ("command", True)


async def test_a_prompt_printed_by_another_program_is_not_proven(scene):
    _, pane = await scene.start_bash()
    forge = r"printf '\033]133;A;aid=%d;nonce=%s\a$ \033]133;B;aid=%d;nonce=%s\a' $PPID $N $PPID $N; cat"
    await scene.send(pane, f"N=$(cat {scene.places.nonce_file}) sh -c {shlex.quote(forge)}")
    await scene.wait_until_at_prompt(pane)
    with pytest.raises(StaleSnapshot) as refused:
        await scene.send(pane, "echo no")
    assert refused.value.details["why"] == "unproven_prompt"

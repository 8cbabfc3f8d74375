"""The gate with a real shell in a real tmux."""

import pytest

from termvisor.errors import Conflict, NeedsApproval, Refused, StaleSnapshot
from termvisor.model.action.action import Kill, SendKeys, SendText, Spawn
from termvisor.model.action.preconditions import Preconditions
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.actions.gate_scene import ME, open_gate_scene
from tests.unit.wait_until import wait_until


@pytest.fixture
async def home():
    with make_short_folder() as folder:
        async with open_gate_scene(folder) as opened:
            yield opened


async def test_a_command_is_typed_submitted_and_confirmed_by_its_shell(home):
    mux_id, pane = await home.bash()
    outcome = await home.send(pane, "echo it-$((40 + 2)) > /dev/tty", key="k1")
    assert (outcome.status, outcome.why) == ("delivered", "command_started")
    await wait_until(lambda: "it-42" in home.screen(mux_id))
    stages = [(one.stage, one.outcome) for one in await home.store.audit.list()]
    assert stages == [("intent", ""), ("outcome", "delivered")]
    assert await home.store.audit.verify() is None
    assert home.policy.reported == [("delivered", "command_started")]


async def test_the_same_key_types_nothing_twice(home):
    mux_id, pane = await home.bash()
    first = await home.send(pane, "echo once", key="k")
    await home.until_at_prompt(pane)
    again = await home.send(pane, "echo once", key="k")
    assert (again.status, again.is_repeated, again.correlation) == ("delivered", True, first.correlation)
    assert home.screen(mux_id).count("echo once") == 1
    with pytest.raises(Conflict, match="another action"):
        await home.send(pane, "echo twice", key="k")


async def test_without_enter_the_text_waits_in_the_input(home):
    mux_id, pane = await home.bash()
    outcome = await home.send(pane, "echo later", enter=False)
    assert (outcome.status, outcome.why) == ("typed_not_submitted", "as_wanted")
    assert home.screen(mux_id).rstrip().endswith("$ echo later")
    with pytest.raises(StaleSnapshot, match="input is not empty") as refused:
        await home.send(pane, "echo more")
    assert refused.value.details["why"] == "input_not_empty"


async def test_a_wrapped_prompt_in_a_narrow_pane_is_seen_too(home):
    mux_id, pane = await home.bash()
    home.tmux("resize-window", "-t", mux_id, "-x", "20", "-y", "10")
    outcome = await home.send(pane, "echo a rather long line that wraps, and says end")
    assert outcome.status == "delivered"
    await wait_until(lambda: home.screen(mux_id).count("says end") == 2)


async def test_a_denied_action_is_logged_and_not_executed(home):
    mux_id, pane = await home.bash()
    home.policy.answer = "deny"
    with pytest.raises(Refused, match="the test says so"):
        await home.send(pane, "echo never")
    assert "never" not in home.screen(mux_id)
    (entry,) = await home.store.audit.list()
    assert (entry.stage, entry.outcome, entry.action["text"]) == ("outcome", "denied", "echo never")


async def test_an_approval_is_requested_and_valid_once(home):
    mux_id, pane = await home.bash()
    home.policy.answer = "ask"
    with pytest.raises(NeedsApproval) as asked:
        await home.send(pane, "echo please")
    number = asked.value.details["question"]
    await home.approvals.answer(number, "allow", ME)
    assert (await home.send(pane, "echo please")).status == "delivered"
    await home.until_at_prompt(pane)
    with pytest.raises(NeedsApproval):
        await home.send(pane, "echo please")
    assert home.screen(mux_id).count("echo please") == 1


async def test_a_running_program_gets_no_text_meant_for_the_shell(home):
    _, pane = await home.bash()
    await home.send(pane, "sleep 600")
    with pytest.raises(StaleSnapshot) as refused:
        await home.send(pane, "echo no")
    assert refused.value.details["why"] == "not_at_prompt"


async def test_a_reading_program_gets_the_text_if_the_caller_says_so(home):
    mux_id, pane = await home.bash()
    await home.send(pane, "cat")
    outcome = await home.send(pane, "hello there", into="program")
    assert (outcome.status, outcome.why) == ("delivered", "left_input")
    await wait_until(lambda: home.screen(mux_id).count("hello there") == 2)


async def test_a_program_that_does_not_read_is_not_reported_as_delivered(home, monkeypatch):
    monkeypatch.setattr("termvisor.actions.text_typer.CONFIRM_TIMEOUT_S", 1.0)
    mux_id, pane = await home.bash()
    await home.send(pane, "python3 -c 'import select; print(4 * 10 + 2); select.select([], [], [])'")
    await wait_until(lambda: "42" in home.screen(mux_id))
    outcome = await home.send(pane, "hello there", into="program")
    assert (outcome.status, outcome.why) == ("unknown", "not_confirmed")


async def test_a_program_that_sleeps_gets_no_enter_for_a_shell_to_find_after_it(home, monkeypatch):
    monkeypatch.setattr("termvisor.actions.text_typer.SEEN_TIMEOUT_S", 1.0)
    mux_id, pane = await home.bash()
    await home.send(pane, "sleep 600")
    await wait_until(lambda: home.tmux.read_format(mux_id, "#{pane_current_command}") == "sleep")
    outcome = await home.send(pane, "hello there", into="program")
    assert (outcome.status, outcome.why) == ("typed_not_submitted", "not_reading")
    await home.gate.run(Kill(pane=pane, signal="TERM"), ME, Preconditions())
    await wait_until(lambda: home.activity(pane) == ("prompt", True))
    await wait_until(lambda: home.screen(mux_id).rstrip().endswith("$ hello there"))


async def test_the_foreground_gets_the_signal_and_the_shell_does_not(home):
    _, pane = await home.bash()
    await home.send(pane, "sleep 600")
    outcome = await home.gate.run(Kill(pane=pane), ME, Preconditions())
    assert outcome.status == "done"
    await wait_until(lambda: home.activity(pane) == ("prompt", True))
    with pytest.raises(StaleSnapshot, match="no program runs"):
        await home.gate.run(Kill(pane=pane), ME, Preconditions())


async def test_keys_are_pressed(home):
    _, pane = await home.bash()
    await home.send(pane, "sleep 600")
    await home.gate.run(SendKeys(pane=pane, keys=("C-c",)), ME, Preconditions())
    await wait_until(lambda: home.activity(pane) == ("prompt", True))


async def test_a_program_is_started_in_a_new_window(home):
    outcome = await home.gate.run(Spawn(where="window", session="work", command=("sleep", "600")), ME, Preconditions())
    assert outcome.status == "done"
    number = await home.pane(outcome.mux_pane)
    closed = await home.gate.run(Kill(pane=number, closes_pane=True), ME, Preconditions())
    assert closed.status == "done"


async def test_a_preview_executes_nothing(home):
    mux_id, pane = await home.bash()
    verdict, found, _ = await home.gate.preview(SendText(pane=pane, text="echo x"), ME, Preconditions(screen="nowhere"))
    assert verdict.answer == "allow" and found is not None and found.why == "if_screen"
    assert "echo x" not in home.screen(mux_id)
    assert await home.store.audit.list() == []


async def test_a_secret_in_a_command_is_not_logged(home):
    secret = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    _, pane = await home.bash()
    assert (await home.send(pane, f": login {secret}")).status == "delivered"
    with open(home.places.database + "-wal", "rb") as wal, open(home.places.database, "rb") as db:
        assert secret.encode() not in wal.read() + db.read()


async def test_several_lines_are_pasted_seen_and_submitted_as_one_command(home):
    mux_id, pane = await home.bash()
    outcome = await home.send(pane, "for i in 1 2; do\n  echo line-$i > /dev/tty\ndone")
    assert (outcome.status, outcome.why) == ("delivered", "command_started")
    await wait_until(lambda: "line-1" in home.screen(mux_id) and "line-2" in home.screen(mux_id))


async def test_an_action_may_have_a_given_correlation(home):
    _, pane = await home.bash()
    outcome = await home.send(pane, "true", correlation="c0ffee")
    assert outcome.correlation == "c0ffee"
    assert {one.correlation for one in await home.store.audit.list()} == {"c0ffee"}

"""The channel `command` with a real script."""

import json
from pathlib import Path

from termvisor.actions.notifications.channels import send_to_command
from termvisor.model.action.notification import UserNotification
from termvisor.model.settings.notifications import NotificationSettings
from tests.unit.actions.notifications.shell_script import write_script
from tests.unit.wait_until import wait_until

NOTICE = UserNotification(id="7f", at="2026-01-01T12:00:00.000Z", title="build", text='it\'s "done"\n$(reboot)', pane=3)


async def send(*words: str, timeout: float = 5.0):
    return await send_to_command(NOTICE, NotificationSettings(notify_command=words, notify_timeout=timeout))


async def test_the_command_reads_one_json_object_and_gets_its_own_arguments(tmp_path):
    path = write_script(tmp_path, "tell", f'cat > {tmp_path}/got; printf %s "$*" > {tmp_path}/words')
    assert (await send(path, "--loud", "a b")).status == "done"
    payload = json.loads((tmp_path / "got").read_text())
    assert (payload["id"], payload["title"], payload["text"], payload["pane"]) == ("7f", "build", NOTICE.text, 3)
    assert (tmp_path / "words").read_text() == "--loud a b"


async def test_a_command_that_reads_no_input_succeeds(tmp_path):
    assert (await send(write_script(tmp_path, "tell", "exit 0"))).status == "done"


async def test_a_failed_program_is_reported_with_its_stderr(tmp_path):
    answer = await send(write_script(tmp_path, "tell", "echo 'no such room' >&2; kill -9 $$"))
    assert (answer.status, answer.why) == ("failed", "program_failed")
    assert "no such room" in answer.text


async def test_a_hanging_program_is_killed_with_its_children(tmp_path):
    path = write_script(tmp_path, "tell", f"sleep 600 & echo $! > {tmp_path}/child; wait")
    assert (await send(path, timeout=1.0)).why == "timeout"
    child = (tmp_path / "child").read_text().strip()
    await wait_until(lambda: has_ended(child))


def has_ended(pid: str) -> bool:
    """Return True if the process is gone or a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


async def test_a_missing_or_unexecutable_program_is_reported(tmp_path):
    assert (await send(str(tmp_path / "none"))).why == "no_program"
    (tmp_path / "page").write_text("not a program")
    assert (await send(str(tmp_path / "page"))).why == "program_failed"

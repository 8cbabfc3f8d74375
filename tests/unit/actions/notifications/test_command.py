"""The channel `command` with a real script."""

import json
from pathlib import Path

from termvisor.actions.notifications.channels import send_to_command
from termvisor.model.action.notification import UserNotification
from termvisor.model.settings.notifications import NotificationSettings
from tests.unit.actions.notifications.shell_script import write_script
from tests.unit.wait_until import wait_until

NOTICE = UserNotification(id="7f", at="2026-01-01T12:00:00.000Z", title="build", text='it\'s "done"\n$(reboot)', pane=3)


async def sent(*words: str, timeout: float = 5.0):
    return await send_to_command(NOTICE, NotificationSettings(notify_command=words, notify_timeout=timeout))


async def test_it_reads_one_json_object_and_gets_its_own_arguments(tmp_path):
    path = write_script(tmp_path, "tell", f'cat > {tmp_path}/got; printf %s "$*" > {tmp_path}/words')
    assert (await sent(path, "--loud", "a b")).status == "done"
    told = json.loads((tmp_path / "got").read_text())
    assert (told["id"], told["title"], told["text"], told["pane"]) == ("7f", "build", NOTICE.text, 3)
    assert (tmp_path / "words").read_text() == "--loud a b"


async def test_one_that_reads_nothing_is_fine(tmp_path):
    assert (await sent(write_script(tmp_path, "tell", "exit 0"))).status == "done"


async def test_a_failed_program_is_reported_with_its_stderr(tmp_path):
    answer = await sent(write_script(tmp_path, "tell", "echo 'no such room' >&2; kill -9 $$"))
    assert (answer.status, answer.why) == ("failed", "program_failed")
    assert "no such room" in answer.text


async def test_a_hanging_program_is_killed_with_its_children(tmp_path):
    path = write_script(tmp_path, "tell", f"sleep 600 & echo $! > {tmp_path}/child; wait")
    assert (await sent(path, timeout=1.0)).why == "timeout"
    child = (tmp_path / "child").read_text().strip()
    await wait_until(lambda: has_ended(child))


def has_ended(pid: str) -> bool:
    """Gone, or dead and not yet buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


async def test_a_missing_or_unexecutable_program_is_reported(tmp_path):
    assert (await sent(str(tmp_path / "none"))).why == "no_program"
    (tmp_path / "page").write_text("not a program")
    assert (await sent(str(tmp_path / "page"))).why == "program_failed"

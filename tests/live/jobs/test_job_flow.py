"""The worked example of the flow API: a program asks for a code, prints a token once, and the token leaves no trace."""

import sys

import pytest

from termvisor.client.job_flow import JobFlow
from termvisor.client.visor import connect
from termvisor.errors import StateConflict
from tests.live.jobs.test_job_secrets import find_traces
from tests.live.polling import wait_until

TOKEN = "sk-ant-oat01-" + "Qw7" * 20
SCRIPT = f"""
import getpass
print("Visit https://claude.ai/oauth/authorize?code=true")
code = input("Paste code here > ")
getpass.getpass("Password: ")
print("Your token:", {TOKEN[:13]!r} + {TOKEN[13:]!r} if code == "abc-123" else "wrong")
"""


async def test_a_flow_answers_prompts_and_keeps_the_token_by_reference(jobs, tmp_path):
    (tmp_path / "setup.py").write_text(SCRIPT)
    command, options = (sys.executable, str(tmp_path / "setup.py")), {"extractor": "claude_setup_token"}
    async with connect(jobs.visor.paths) as visor, JobFlow.start(visor, *command, **options) as flow:
        await flow.expect("paste code")
        await flow.send("abc-123")
        await flow.expect("password")
        await flow.send_secret("hunter2-hunter2")
        assert await flow.wait_end() == 0
        found = await flow.extract(secret_file=str(tmp_path / "token"))
    assert found == {"url": "https://claude.ai/oauth/authorize?code=true"}
    assert (tmp_path / "token").read_text() == f"token={TOKEN}\n"
    assert wait_until(lambda: find_traces(jobs, TOKEN) == find_traces(jobs, "hunter2-hunter2") == [])


async def test_a_flow_that_is_left_stops_its_job(jobs):
    async with connect(jobs.visor.paths) as visor:
        with pytest.raises(StateConflict, match="asks"):
            async with JobFlow.start(visor, "sh", "-c", "printf 'other? '; read x") as flow:
                await flow.expect("password")
        assert (await flow.read_status())["state"] == "finished"

from termvisor.model.action.action import SendJobInput, SendKeys, StopJob
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_job_is_named_by_its_id_or_its_name() -> None:
    services = await build_sample_services(op="job_status")
    by_id = (await run_command(services, "robot", "job", "status", "2")).envelope["data"]
    assert (by_id["state"], by_id["prompt"]) == ("waiting_for_input", "Press Enter to open the browser")
    assert (await run_command(services, "robot", "job", "status", "login")).envelope["data"] == by_id
    assert (await run_command(services, "robot", "job", "status", "nope")).envelope["error"]["code"] == "not_found"


async def test_the_wait_returns_at_once_with_the_status_of_the_command() -> None:
    services = await build_sample_services(op="job_wait")
    ended = await run_command(services, "job", "wait", "build")
    assert (ended.status, "finished, status 2" in ended.out) == (2, True)
    assert (await run_command(services, "job", "wait", "login")).status == 0
    missed = await run_command(services, "job", "wait", "build", "--state", "running")
    assert (missed.status, "ended (finished) first" in missed.err) == (124, True)
    assert "no state" in (await run_command(services, "job", "wait", "build", "--state", "done")).err


async def test_a_secret_reaches_the_gate_as_a_digest_only() -> None:
    services = await build_sample_services(op="job_send")
    asked = await run_command(services, "job", "send", "login", "--secret")
    assert asked.input_source == "--secret"
    assert "must not be an argument" in (await run_command(services, "job", "send", "login", "--secret", "pw")).err
    assert services.gate.executed == []


async def test_text_and_keys_become_actions_on_the_pane() -> None:
    services = await build_sample_services(op="job_send")
    await run_command(services, "job", "send", "login", "yes")
    await run_command(services, "job", "send", "login", "--keys", "Down", "Enter")
    await run_command(services, "job", "stop", "login")
    actions = [action for action, _ in services.gate.executed]
    assert actions == [
        SendJobInput(pane=1, job=2, text="yes"),
        SendKeys(pane=1, keys=("Down", "Enter")),
        StopJob(job=2, pane=1),
    ]


async def test_an_ended_job_takes_no_input() -> None:
    services = await build_sample_services(op="job_send")
    assert "is finished" in (await run_command(services, "job", "send", "build", "yes")).err


async def test_the_list_filters_and_summarizes() -> None:
    services = await build_sample_services(op="job_list")
    data = (await run_command(services, "robot", "job", "list", "--state", "finished")).envelope["data"]
    assert [item["name"] for item in data["items"]] == ["build"]
    groups = (await run_command(services, "robot", "job", "list", "--summary")).envelope["data"]["summary"]["groups"]
    build = next(group for group in groups if group["name"] == "build")
    assert (build["jobs"], build["failed"], build["median_s"]) == (1, 1, 60.0)
    assert next(group for group in groups if group["name"] == "login")["prompts"] == ["Press Enter to open the browser"]


async def test_only_ended_jobs_are_pruned() -> None:
    services = await build_sample_services(op="job_prune")
    assert "1 job deleted" in (await run_command(services, "job", "prune", "--keep", "0", "--dry-run")).out
    assert "1 job deleted" in (await run_command(services, "job", "prune", "--keep", "0")).out
    listed = (await run_command(services, "robot", "job", "list")).envelope["data"]["items"]
    assert [item["name"] for item in listed] == ["login"]

import jsonschema
import msgspec
import pytest

from termvisor.ops.api import catalog, schema
from termvisor.ops.api.operation import Operation
from termvisor.settings import Paths
from termvisor.testing.operation_calls import OPERATION_CALLS, run_command
from termvisor.testing.sample_services import build_sample_services

OPS = catalog.load_all_operations()
Draft = jsonschema.Draft202012Validator


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_schemas_are_valid_and_have_their_own_id(op: Operation) -> None:
    for document, end in ((schema.build_input_schema(op), "input"), (schema.build_output_schema(op), "output")):
        Draft.check_schema(document)
        assert document["$schema"] == Draft.META_SCHEMA["$id"]
        assert document["$id"] == f"urn:termvisor:schema:1:{op.name}.{end}"


@pytest.mark.parametrize("is_full", [False, True])
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
async def test_real_results_match_the_schemas(
    op: Operation, is_full: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    places = Paths(*(str(tmp_path_factory.mktemp(name)) for name in ("config", "data", "run")))
    services = await build_sample_services(places, op.name)
    answered = await run_command(services, "robot", *OPERATION_CALLS[op.name], is_full=is_full)
    whole = [msgspec.json.decode(line) for line in answered.out.splitlines()]
    items = whole if op.is_stream else [whole[0]["data"]]
    envelopes = [] if op.is_stream else whole
    assert items
    for item in items:
        Draft(schema.build_output_schema(op)).validate(item)
    for envelope in envelopes:
        Draft(schema.build_envelope_schema()).validate(envelope)


async def test_an_error_matches_the_envelope_schema() -> None:
    answered = await run_command(await build_sample_services(), "robot", "get-text", "nowhere")
    Draft.check_schema(schema.build_envelope_schema())
    Draft(schema.build_envelope_schema()).validate(answered.envelope)


def test_every_operation_has_an_example_call() -> None:
    assert list(OPERATION_CALLS) == list(catalog.OPERATION_NAMES)


def test_a_result_without_required_fields_is_invalid() -> None:
    with pytest.raises(jsonschema.ValidationError):
        Draft(schema.build_output_schema(catalog.load_operation("list_panes"))).validate({"items": []})

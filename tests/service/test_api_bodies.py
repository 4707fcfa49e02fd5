"""Malformed and odd calls over the whole OpenAPI document: whatever is sent, the server does not fail."""

from __future__ import annotations

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck
from schemathesis import GenerationMode

from tests.service.conftest import Town, packed
from tests.service.test_flow import GOOD, submit, team_with_entry, upload


@pytest.fixture(scope="module")
def busy_town(tmp_path_factory, request):
    """Something is there to be hit: a contest, a team, an entry, a queued run."""
    home = tmp_path_factory.mktemp("site")
    server = request.getfixturevalue("postgres")  # text that SQLite would take, PostgreSQL refuses
    town = Town(home / "home", server.url())
    town.contest()
    root = town.person("root", "operator")
    _, entry = team_with_entry(root)
    submit(root, entry, upload(root, entry, packed(home, GOOD)))
    root.api("GET", "/me")
    town.bearer = root.bearer
    yield town
    town.close()


CODES = {200, 201, 204, 400, 401, 403, 404, 405, 409, 413, 415, 422, 429}


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_call_makes_the_server_fail(busy_town, mode):
    """As the operator and as nobody, with bodies that fit the document and with bodies that do not."""
    schema = schemathesis.openapi.from_url(f"{busy_town.base}/api/openapi.json")
    seen = 0
    for found in schema.get_all_operations():
        operation = found.ok()
        if mode is GenerationMode.NEGATIVE and not (list(operation.body) or list(operation.path_parameters)):
            continue

        @hypothesis.settings(
            max_examples=10, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
        )
        @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
        def call(case):
            nonlocal seen
            for headers in ({"authorization": f"Bearer {busy_town.bearer}"}, {}):
                answer = case.call(headers=headers)
                assert answer.status_code in CODES, (case.method, case.formatted_path, case.body, answer.text)
                seen += 1

        call()
    assert seen > 300

"""Whatever comes over the wire, the server answers as its own document says, and goes on."""

from __future__ import annotations

import subprocess
from typing import Any

import psutil
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from serve.conftest import Place
from serve.fake import house
from serve.fuzz import ANSWERS, bombard

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_as_documented(place: Place, mode: GenerationMode) -> None:
    """Requests made from the document, and others that it forbids."""
    schema = schemathesis.openapi.from_url(f"{place.url}/openapi.json")
    tried = []
    for found in schema.get_all_operations():
        operation = found.ok()
        if mode is GenerationMode.NEGATIVE and operation.path != "/v1/run":
            continue  # there is nothing to be wrong in

        @settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case: Any) -> None:
            case.call_and_validate(checks=CHECKS)

        check()
        tried.append(operation.path)
    assert "/v1/run" in tried


def test_fuzz(place: Place) -> None:
    found = bombard(place, 200, seed=1)
    assert set(found) <= ANSWERS
    assert found[200] > 20
    assert found[422] > 20
    assert place.letters("abc").text == "cba"
    assert place.house.crew.live == place.house.crew.waiting == 0


@pytest.mark.slow
@pytest.mark.parametrize("process", [0.0], indirect=True)
def test_ten_thousand_leave_nothing_behind(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    where = Place(process.stdout.readline().strip(), house())
    bombard(where, 2_000, seed=1)
    front = psutil.Process(process.pid)
    all_of_it = [front, *front.children()]
    before = sum(each.memory_info().rss for each in all_of_it)
    assert set(bombard(where, 10_000, seed=2)) <= ANSWERS
    assert sum(each.memory_info().rss for each in all_of_it) < 1.05 * before

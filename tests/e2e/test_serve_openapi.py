"""The description of the interface, and requests made up from it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from program import ROOT, Program
from schemathesis.core.result import Ok
from served import Served, serving

TRACE = ROOT / "examples" / "data" / "gpt_stack.json.gz"


@pytest.fixture(scope="module")
def served(program: Program) -> Iterator[Served]:
    with serving(program, "--root", str(TRACE.parent), str(TRACE)) as running:
        yield running


def test_every_analysis_is_described(served: Served) -> None:
    described = served.ask("openapi.json").json
    analyses = served.ask("api/analyses").json["analyses"]
    for about in analyses:
        path = described["paths"][f"/api/analyses/{about['name']}"]["get"]
        names = [p["name"] for p in path["parameters"]]
        assert names == [
            *(p["name"] for p in about["parameters"]),
            "rank",
            "step",
            "format",
            "table",
            "run",
        ]
    assert len(described["paths"]) == len(analyses) + 12


@pytest.mark.parametrize("examples", [3, pytest.param(15, marks=pytest.mark.nightly)])
def test_requests_made_up_from_the_description(served: Served, examples: int) -> None:
    described = json.loads(served.ask("openapi.json").body)
    del described["paths"]["/api/progress"]  # a stream
    schema = schemathesis.openapi.from_dict(described)
    address = f"http://127.0.0.1:{served.port}"
    asked = 0

    for result in schema.get_all_operations():
        assert isinstance(result, Ok), result
        made = result.ok()
        for strategy in (
            made.as_strategy(),
            made.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE),
        ):

            @given(case=strategy)
            @settings(
                max_examples=examples,
                deadline=None,
                database=None,
                derandomize=True,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            def ask(case: schemathesis.Case[Any]) -> None:
                nonlocal asked
                asked += 1
                headers = {"Authorization": f"Bearer {served.token}"}
                reply = case.call(base_url=address, headers=headers)
                assert reply.status_code < 500, (case.path, case.query, reply.text)
                if reply.status_code >= 400 and reply.request.method != "HEAD":
                    assert set(json.loads(reply.text)["error"]) == {"code", "message"}

            ask()
    assert asked > 33 * examples
    assert served.ask("api/run").status == 200

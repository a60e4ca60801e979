"""Shapes in signatures are checked here, and only here."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook

install_import_hook("regard", "beartype.beartype")

# Tests are many small sums: threads would only wait for each other.
torch.set_num_threads(1)

settings.register_profile(
    "fast",
    max_examples=5,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", parent=settings.get_profile("fast"), max_examples=300)
settings.load_profile("fast")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Have one process do all that wants a browser: its models are trained once."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "page" if nodeid.startswith("tests/page/") else nodeid

    return Scheduling(config, log)

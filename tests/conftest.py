"""Shapes in signatures are checked here, and only here."""

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

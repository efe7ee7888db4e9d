"""What the suites about processes share."""

import pytest
from processes_rig import Programs, cached_programs

collect_ignore = ["corpus"]
"""Submissions that do what no test may do when it is imported."""


def pytest_configure(config: pytest.Config) -> None:
    """The marker of what `make adversarial` adds."""
    config.addinivalue_line("markers", "adversarial: submissions of the corpus that take a build or a deadline of their own; run by make adversarial")


@pytest.fixture(scope="session")
def programs(pytestconfig: pytest.Config) -> Programs:
    """Host library, device process and device library, built once and kept."""
    assert pytestconfig.cache is not None
    return cached_programs(pytestconfig.cache.mkdir("piton-programs"))

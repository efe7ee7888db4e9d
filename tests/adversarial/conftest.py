"""What the suites about processes share."""

import pytest
from processes_rig import Programs, cached_programs


@pytest.fixture(scope="session")
def programs(pytestconfig: pytest.Config) -> Programs:
    """Host library, device process and device library, built once and kept."""
    assert pytestconfig.cache is not None
    return cached_programs(pytestconfig.cache.mkdir("piton-programs"))

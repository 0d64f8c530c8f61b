"""What every test run shares.

Log lines go nowhere, since no test reads them but those that capture them. One worker more than there are cores runs
tests: a third of the time of a run goes by in waiting for processes that a test has started.

While tests are collected, garbage is not looked for: there is little, and the search took more than half of the time.

``SHARE`` is the share of the cases of long tests that is run: with 3, every third one of each function.
"""

import gc
import os
from collections import defaultdict
from collections.abc import Generator

import pytest
import structlog

structlog.configure(logger_factory=structlog.ReturnLoggerFactory(), cache_logger_on_first_use=False)


def pytest_xdist_auto_num_workers() -> int:
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    share = int(os.environ.get("SHARE", "1"))
    cases: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("one_python") is not None:
            cases[item.nodeid.partition("[")[0]].append(item)
    left_out = {item for each in cases.values() for place, item in enumerate(each) if place % share}
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]

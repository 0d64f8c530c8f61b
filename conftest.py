"""What every test run shares.

Log lines go nowhere, since no test reads them but those that capture them. One worker more than there are cores runs
tests: a third of the time of a run goes by in waiting for processes that a test has started.
"""

import os

import structlog

structlog.configure(logger_factory=structlog.ReturnLoggerFactory(), cache_logger_on_first_use=False)


def pytest_xdist_auto_num_workers() -> int:
    return (os.cpu_count() or 1) + 1

"""What every test run shares: log lines go nowhere, since no test reads them but those that capture them."""

import structlog

structlog.configure(logger_factory=structlog.ReturnLoggerFactory(), cache_logger_on_first_use=False)

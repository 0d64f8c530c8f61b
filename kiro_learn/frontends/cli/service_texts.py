"""What ``service`` says."""

from __future__ import annotations

HELP = "Start the daemon with the machine, and again when it fails."
INSTALL_HELP = "Install the service, and start it."
STATUS_HELP = "Say how the service is."
UNINSTALL_HELP = "Stop the service, and remove its file."
FORCE_HELP = "Also where the service's file was changed by hand."

STEPS = {
    "create": "new     {path}",
    "replace": "change  {path}",
    "remove": "remove  {path}",
    "run": "run     {command}",
}
STOPS = "stop the daemon that runs without the service"
UNCHANGED = "Nothing was changed."
INSTALLED = "Service is installed and runs already"
NOT_INSTALLED = "Service is not installed"
TITLE = "Service"
STATES = {
    "absent": "not installed",
    "unloaded": "installed, not loaded",
    "stopped": "installed, stopped",
    "starting": "starting",
    "running": "running",
    "failed": "failed",
}
OF = "by {manager}"
ORIGINS = {"edited": "changed by hand", "foreign": "not written by kiro-learn"}
ENDS = "The daemon stops when you log out"
LINGER = "loginctl enable-linger"
VARIABLES = "The service does not see {names}: write that into {path}"
TOO_SLOW = "the service was started, but the daemon did not answer within {seconds:.0f} s"
OFFER = "Start the daemon with the machine: {command}"

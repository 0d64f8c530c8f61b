"""What the verbs ``config``, ``logs`` and ``completion`` say."""

from __future__ import annotations

CONFIG_HELP = """Say and change the settings of the daemon.

Each is named by its section and name, as recall.budget_seconds.
"""
GET_HELP = "Say what one setting is, and where that comes from."
SET_HELP = "Change one setting in settings.toml; all else in the file stays."
LIST_HELP = "List the settings with where each comes from."
LIST_CHANGED_HELP = "Only those that are not as by default."

ORIGINS = {"default": "default", "file": "settings.toml", "variable": "{variable}"}
ALL_DEFAULT = "All settings are as by default"
KEY_IS_SET = "{variable} is set"
KEY_IS_NOT_SET = "{variable} is not set"
SET_TO = "{key} is {value}"
VARIABLE_WINS = "{variable} is set in this environment and wins over the file"
NEEDS_RESTART = "The daemon runs with what it read at its start: {command}"

LOGS_HELP = "Show the last lines of the daemon's log."
LINES_HELP = "How many."
FOLLOW_HELP = "Go on with those that come, until Ctrl-C."
NO_LOG = "there is no log in {path} yet"

COMPLETION_HELP = """Have your shell complete commands and names.

Prints what the shell has to read, or puts it where the shell finds it.
"""
COMPLETION_INSTALL_HELP = "Put it into the file that the shell reads."
COMPLETION_WRITTEN = "{path} \N{MIDDLE DOT} from the next {shell} on"
COMPLETION_FPATH = "Above compinit in ~/.zshrc: fpath=({folder} $fpath)"
COMPLETION_FOREIGN = "{path} is there and not ours"
COMPLETION_UNWRITABLE = "{path}: {problem}"

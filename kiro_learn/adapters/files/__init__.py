"""Files: those of the home folder, of agents and of projects.

Rules of this room: every call blocks, so callers make it in a thread. Folders are 0700 and files 0600. The token's text
is returned and written, never logged and never part of an error.
"""

from kiro_learn.adapters.files.home import Home
from kiro_learn.adapters.files.home_folder import lasting_interpreter, write_hook_script, write_start_script
from kiro_learn.adapters.files.spool import Spool, SpooledHook

__all__ = ["Home", "Spool", "SpooledHook", "lasting_interpreter", "write_hook_script", "write_start_script"]

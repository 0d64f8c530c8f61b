"""What ``doctor`` says."""

from __future__ import annotations

HELP = "Say what is wrong, and the command that mends it."
FIX_HELP = "Mend what is safe to mend, and say what was done."
ALL_HELP = "Also what is well."

MEND = "mend:"
WELL = ("check is well", "checks are well")
ALL_LISTS_THEM = "--all lists them"
NOTHING = "Nothing is wrong."
PROBLEMS = ("problem", "problems")
NO_PROBLEM = "No problem"
TO_KNOW = ("thing to know", "things to know")
AND = "{problems}, {to_know}"
FIXABLE = "{problems}. Mend everything that is safe to mend: {command}"

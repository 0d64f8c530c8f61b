"""What ``export --markdown`` says, and ``import`` of such a folder."""

from __future__ import annotations

MARKDOWN_HELP = "Write memories as Markdown files into this folder."
ONE_PLACE = "name one place: a file, or a folder behind --markdown"
FOREIGN = "{path}  has other files in it, and no export"
FOREIGN_HINT = "Name a new folder."
UNREADABLE = "{path}  is no export any more: {problem}"
UNREADABLE_HINT = "Export into a new folder."
WRITTEN = "{path} \N{MIDDLE DOT} {memories}"
COUNTED = "{new:,} new, {changed:,} changed, {unchanged:,} unchanged, {removed:,} removed"
OVERWRITTEN = "{count} overwritten, edits with it:"
LEFT = "{count} left as they are:"
LEFT_HINT = "kiro-learn import takes edits in; --force writes what memory has."
LEFT_BECAUSE = {
    "edited": "{path}  was edited",
    "deleted": "{path}  was deleted",
    "foreign": "{path}  is no file of the export",
}
FILES = ("file", "files")
EDIT_HOW = "Edit the files, then: {command}"

LOOKING = "Reading  {progress}"
FOUND = "{edited:,} edited, {new:,} new, {deleted:,} deleted, {unchanged:,} unchanged"
EDITED = "edited   {path}  ({names})"
NEW = "new      {path}"
DELETED = "deleted  {path}"
MORE = "and {count:,} more"
TAKE_QUESTION = "Take them in?"
NOT_TAKEN = "Nothing was taken."
FORGET_DELETED_HELP = "Forget the memories whose files were deleted."
FORGET_QUESTION = "Forget the {memories} of the deleted files, with what they replaced? This cannot be undone."
KEPT = "{memories} of deleted files kept; --forget-deleted forgets them"
TAKEN = "{path}: {edited:,} edited, {new:,} remembered, {forgotten:,} forgotten"
ELSEWHERE = "Memories of unchanged files are not kept here: they were replaced, or the folder is of another home."
ELSEWHERE_HINT = "To move a memory there: kiro-learn export FILE, then kiro-learn import FILE."
NOTHING = "{path}: nothing was edited"
PROBLEM = "{path}  {problem}"
PROBLEM_AT = "{path}:{line}  {problem}"
ALONE = "{count} left alone:"
CONFLICTS_HINT = "kiro-learn export --markdown writes what memory has beside them."
UNDO = "kiro-learn memories undo puts an edited memory back."
NO_FOLDER = "this goes with the folder of an export"

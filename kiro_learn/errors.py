"""Every error that kiro_learn raises on purpose, named by the party who can act on it.

Rules of this file: an error knows the thing it is about and what to do next; it knows nothing of HTTP, exit codes or
logs. A library's own exception never leaves its adapter: it is raised again as one of these, with the cause kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath


class KiroLearnError(Exception):
    """The base of all errors that kiro_learn raises on purpose."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint
        """What to do next: one sentence, or empty."""


# --- the caller can fix it; nothing changed -------------------------------------------------------------------------


class RequestError(KiroLearnError):
    """The caller asked for something that cannot be; nothing changed."""


class InvalidRequest(RequestError):
    """Values were wrong; every one of them is named."""

    def __init__(self, problems: Sequence[tuple[str, str]], *, hint: str = "") -> None:
        super().__init__("; ".join(f"{path}: {problem}" for path, problem in problems), hint=hint)
        self.problems = tuple(problems)
        """(JSON path, what was expected), in the order found."""


class QuerySyntaxError(InvalidRequest):
    """A query of the search syntax does not parse."""

    def __init__(self, position: int, problem: str, *, hint: str = "") -> None:
        super().__init__([("$.q", f"at character {position + 1}: {problem}")], hint=hint)
        self.position = position
        """Where the first wrong character is, from 0; the length of the query if something is missing at its end."""
        self.problem = problem


class UnknownRecord(RequestError):
    """No memory record has this id."""

    def __init__(self, record_id: str, *, successors: Sequence[str] = ()) -> None:
        perhaps = "Perhaps it was forgotten, or another replaced it."
        hint = f"It was replaced by {' and '.join(successors)}." if successors else perhaps
        super().__init__(f"no memory has the id {record_id}", hint=hint)
        self.record_id = record_id


class NoCopy(RequestError):
    """No copy of the database has this name, or none is sound."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem, hint="kiro-learn backup list")


class UnknownGraphItem(RequestError):
    """No item of the graph has this id."""

    def __init__(self, item_id: str) -> None:
        said = f"no item of the graph has the id {item_id}"
        super().__init__(said, hint="Perhaps it was forgotten, or belongs to another project.")


class HoldsNoLonger(RequestError):
    """The item of the graph that was to be put right was already replaced, ended or changed."""

    def __init__(self, item_id: str) -> None:
        said = f"{item_id} was already changed, or no longer holds"
        super().__init__(said, hint="If the statement that holds now is wrong too, correct that one.")


class NoConflict(RequestError):
    """Two things do not contradict each other, or no longer do, so neither can give way to the other."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} and {other} do not contradict each other", hint="kiro-learn conflicts list")


class UnknownCheckpoint(RequestError):
    """The session, or the project, has no checkpoint: nothing stored says where it stands."""

    def __init__(self, project: str, session: str | None) -> None:
        asked = f"the session {session}" if session else f"the project {project}"
        super().__init__(f"{asked} has no checkpoint", hint="Storing a summary of a session makes one.")


class UnknownProject(RequestError):
    """Nothing was ever stored for a project of this name."""

    def __init__(self, called: str, *, nearest: Sequence[str] = (), known: Sequence[str] = ()) -> None:
        perhaps = f"Perhaps {' or '.join(nearest)} is meant." if nearest else ""
        hint = perhaps or (f"Known projects: {', '.join(known)}." if known else "")
        is_folder = called.startswith("/")
        said = (
            f"there is no folder {called}, and no project of that folder"
            if is_folder
            else f"no project is called {called}"
        )
        super().__init__(said, hint=hint)


class DuplicateRecord(RequestError):
    """A memory record with this id is already kept."""

    def __init__(self, record_id: str) -> None:
        super().__init__(f"a memory with the id {record_id} is already kept")


class NothingToUndo(RequestError):
    """The memory record came by itself; it replaced nothing."""

    def __init__(self, record_id: str) -> None:
        said = f"the memory {record_id} replaced nothing"
        super().__init__(said, hint="A memory that replaced nothing can only be forgotten.")


class ReplacedSince(RequestError):
    """A later replacement builds on the one to be undone, and must be undone first."""

    def __init__(self, record_id: str, *, replaced_by: str) -> None:
        said = f"the memory {record_id} has since been replaced by {replaced_by}"
        super().__init__(said, hint=f"kiro-learn memories undo {replaced_by}")
        self.record_id = record_id
        self.replaced_by = replaced_by


# --- something outside failed; asking later may work ----------------------------------------------------------------


class DependencyError(KiroLearnError):
    """Something we depend on failed; asking again later may work."""

    retry_after_seconds: int | None = None


class StorageError(DependencyError):
    """The store failed to carry out a request."""


class StorageUnavailable(StorageError):
    """The database file cannot be opened, read or written, or was closed."""

    def __init__(self, path: Path | str, *, problem: str = "cannot be opened", hint: str = "") -> None:
        super().__init__(f"the database {path} {problem}", hint=hint)


class DatabaseGone(StorageError):
    """This home had a database, and its file is missing or empty; no new one was begun in its place."""

    def __init__(self, path: Path, traces: Sequence[str]) -> None:
        super().__init__(
            f"the database {path} is missing or empty, but this home had one: {', '.join(traces)}",
            hint="kiro-learn doctor      names the commands that restore a copy, or begin a new database",
        )


class StorageBusy(StorageError):
    """Another process held the database's write lock for too long."""

    retry_after_seconds = 1


class StorageCorrupt(StorageError):
    """Data in the store are damaged: they differ from those that were written."""


class MigrationDriftError(StorageError):
    """The database was migrated by code that names its migrations differently; nothing was touched."""

    def __init__(self, version: int, *, recorded: str, known: str = "") -> None:
        expected = f"but this version knows it as {known!r}" if known else "which only development versions had"
        super().__init__(
            f"migration {version} is recorded as {recorded!r}, {expected}",
            hint="" if known else "Replace it with the copy in backups/ from before the development version.",
        )


class SchemaTooNew(StorageError):
    """A newer kiro_learn has already migrated this database."""

    def __init__(self, *, found: int, known: int) -> None:
        said = f"the database is at migration {found}, and this version knows only {known}"
        super().__init__(said, hint="Install the version of kiro-learn that wrote it, or a newer one.")


class EmbeddingError(DependencyError):
    """No vector could be made."""


class EmbeddingOff(EmbeddingError):
    """The settings say that nothing is embedded; asking again later changes nothing."""

    def __init__(self, *, hint: str = "") -> None:
        super().__init__("[embedding] enabled is false", hint=hint)


class ModelMissing(EmbeddingError):
    """The embedding model's file is absent, or is not the one that was shipped."""

    def __init__(self, path: Path | str, problem: str) -> None:
        super().__init__(f"the embedding model {path} {problem}", hint="Install kiro-learn again.")
        self.path = path


class DimensionMismatch(EmbeddingError):
    """A vector has another length than the store's."""

    def __init__(self, *, record_id: str, wanted: int, found: int) -> None:
        super().__init__(f"the vector of {record_id} has {found} components, not {wanted}")


class LlmError(DependencyError):
    """The learner gave no usable answer."""


class UnusableAnswer(LlmError):
    """The learner answered, but not in the form that was asked for; the message quotes none of it."""


class BatchRefused(LlmError):
    """The model works, but gave no usable answer to this batch; it may give one to a part of it."""

    def __init__(self, problem: str, *, entry_count: int, is_one_turn: bool) -> None:
        super().__init__(f"the model works, but not on a batch of {entry_count:,} events: {problem}")
        self.entry_count = entry_count
        """How many entries of the buffer the model was shown."""
        self.is_one_turn = is_one_turn
        """Whether these entries are one turn, which cannot be split."""


class BudgetSpent(LlmError):
    """The model was called as often as it may be on one day; it is not called again before the next."""

    def __init__(self, daily_calls: int) -> None:
        super().__init__(
            f"the model was asked {daily_calls:,} times today, which is all that [llm] daily_calls allows",
            hint="Raise it, or wait for midnight (UTC); until then, learning goes on without a model.",
        )


class ModelBusy(LlmError):
    """The model's server asked not to be called for a while (HTTP's ``Retry-After``)."""

    def __init__(self, host: str, seconds: int, *, was_asked: bool = True) -> None:
        super().__init__(f"{host} accepts no requests for {seconds:,} s", hint="It is asked again after that.")
        self.retry_after_seconds = seconds
        self.was_asked = was_asked
        """False: the server had asked for the pause before, and nothing was sent this time."""


class ModelSick(LlmError):
    """The model failed several times in a row; its breaker is open."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name} fails: {problem}", hint="kiro-learn status shows when it works again")


class AgentError(LlmError):
    """The agent that was asked to learn failed."""


class AgentNotFound(AgentError):
    """The agent's program cannot be started."""

    def __init__(self, program: str, problem: str) -> None:
        said = f"the agent {program} cannot be started: {problem}"
        super().__init__(said, hint="Install it, or name another in [llm] command (docs/models.md).")


class AgentExited(AgentError):
    """The agent ended, or closed its output, before it had answered."""

    def __init__(self, program: str, returncode: int | None, stderr_tail: str) -> None:
        how = "closed its output" if returncode is None else f"ended with exit code {returncode}"
        if returncode is not None and returncode < 0:
            how = f"was ended by signal {-returncode}"
        said = f"the agent {program} {how} before it had answered"
        super().__init__(said, hint="Run its command by hand: it may want you to log in.")
        self.returncode = returncode
        """Negative: minus the signal's number. None: the agent closed its output and had to be killed."""
        self.stderr_tail = stderr_tail
        """The end of the agent's standard error. It may hold contents, so it is neither in the message nor in the
        log."""


class AgentWantsLogin(AgentError):
    """The agent is not logged in to its service."""

    def __init__(self, program: str, login: str) -> None:
        how = f": {login}" if login else " with it"
        super().__init__(f"the agent {program} wants you to log in{how}", hint="Then kiro-learn flush asks it again.")
        self.login = login
        """The command that does it; empty if that is not known."""


class AgentSpokeNonsense(AgentError):
    """The agent's output is not the Agent Client Protocol, or a message came out of order."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"the agent {problem}", hint="[llm] command must start an agent that speaks version 1 of the ACP."
        )


class AgentFileError(DependencyError):
    """A file of an agent cannot be read or edited; it is left as it is."""

    def __init__(self, path: PurePath | str, problem: str, *, line: int = 0, column: int = 0, hint: str = "") -> None:
        place = f" line {line}, column {column}:" if line else ""
        super().__init__(f"{path}:{place} {problem}", hint=hint)
        self.path = str(path)
        self.problem = problem
        self.line = line
        """The line of the problem, from 1; 0 if it has no place in the text."""
        self.column = column


class AgentFileTooLargeError(AgentFileError):
    """A file of an agent is larger than the files that are edited."""


class UnexpectedError(DependencyError):
    """An exception that no code handles ended a piece of work: a defect of this program."""

    def __init__(self, error: Exception, *, what: str = "learning") -> None:
        said = f"{what} was ended by an unexpected {type(error).__name__}"
        super().__init__(said, hint="The daemon's log says where.")


# --- right call, wrong moment ---------------------------------------------------------------------------------------


class LifecycleError(KiroLearnError):
    """The call is right, the moment is wrong."""


class AlreadyRunning(LifecycleError):
    """Another daemon owns this home."""

    def __init__(self, home: Path, pid: int | None) -> None:
        owner = f"pid {pid}" if pid else "another process"
        super().__init__(f"a daemon already runs in {home} ({owner})", hint="kiro-learn status")


class PortTaken(LifecycleError):
    """Another program, or the daemon of another home, listens on our port."""

    def __init__(self, port: int, owner: str) -> None:
        super().__init__(f"port {port} is taken by {owner}", hint="kiro-learn start --port 0")


class NoModel(LifecycleError):
    """The request needs a model, and none is set up."""

    def __init__(self, why: str) -> None:
        super().__init__(f"no model is set up: {why}", hint="docs/models.md says how to set one up")


class ServiceError(LifecycleError):
    """The service that starts the daemon with the machine cannot be read, written, started or stopped."""


class ActorStopped(LifecycleError):
    """The actor stopped before it answered."""

    def __init__(self, actor: str) -> None:
        super().__init__(f"the {actor} stopped before it answered")


# --- startup only ---------------------------------------------------------------------------------------------------


class ConfigError(KiroLearnError):
    """The settings are wrong; every problem is named and nothing was started."""

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        is_of_the_home = all(path == "home" for path, _ in problems)
        super().__init__(
            "; ".join(f"{path}: {problem}" for path, problem in problems),
            hint="kiro-learn doctor" if is_of_the_home else "docs/configuration.md lists every setting with its bounds",
        )
        self.problems = tuple(problems)
        self.is_of_the_home = is_of_the_home
        """Whether the home itself cannot be used; the settings may be right."""

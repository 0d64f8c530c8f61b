"""What tells a rule for the work from what people say to each other with the same words ("Never give up!")."""

from __future__ import annotations

import re

from kiro_learn.learning.graph.gazetteer import is_known

_VERB_WORDS = """
    abort access add amend annotate answer append apply approve archive ask assert assign avoid backup bump build bundle
    cache call capitalize catch change check cherry-pick cite clone close comment commit compile configure convert copy
    create debug declare delete deploy deprecate disable document download duplicate edit embed enable encrypt
    escape explain export expose extend fetch filter fix force force-push format generate hardcode hard-code ignore
    implement import include indent inline install invoke lint load lock log merge migrate mock modify mutate name nest
    normalize open optimize order override overwrite parse patch pin prefix print publish pull push put query raise
    rebase reference refactor refresh regenerate reformat release remove rename render replace reply require reset
    restart retry return reuse revert review rewrite roll round-trip run sanitize save scan schedule
    ship sign skip sort specify split squash stage stash store stub suggest summarize summarise support
    suppress switch sync tag target test throw touch translate trim truncate type-check update upgrade upload use
    validate verify version wrap write
"""
_NOUN_WORDS = """
    api apis agent agents alembic backend branch branches build builds bug bugs changelog changelogs ci cli cluster
    code codebase columns commit commits component components config configuration container containers css database
    databases dependencies dependency deploy deployment deployments deploys docs docstring docstrings documentation
    endpoint endpoints env exceptions file files fixture fixtures folder folders frontend function functions git hook
    hooks html import imports indentation integration json lint linter linting lockfile log logs logging main master
    methods microservice migration migrations mock mocks module modules monorepo namespace package packages
    pipeline pipelines
    pr prs production pull python queries query readme refactoring refactorings regex release releases repo repository
    repositories schema schemas script scripts sdk secrets server servers snake_case spec specs sql src staging subagent
    subagents submodule submodules table tables terminal test tests tokens tool tools trunk typescript ui unit
    variable variables yaml emoji emojis semicolons credentials passwords password feature features
"""
_VERBS = frozenset(_VERB_WORDS.split())
_WITH_GIT = frozenset({"push", "force-push", "merge", "rebase", "squash", "amend", "cherry-pick"})
_NOUNS = frozenset(_NOUN_WORDS.split())
_OF_FORMAT = frozenset({"tabs", "spaces", "comments", "docstrings", "markdown", "camelcase"})

_BEFORE_A_VERB = re.compile(
    r"(?:^|\b(?:always|never|ever|only|not|don'?t|should|must|please|sure|remember to|important to|required to"
    r"|mandatory to|rule is to|policy is to|convention is to|preference is to"
    r"|(?:from now on|going forward|as a rule|by convention|future),?(?: please| you| we)?)\s)"
    r"\s*(?=(?:first |also |just )?(?P<verb>[a-z-]+))",
    re.IGNORECASE,
)
_OF_LIFE = re.compile(
    r"\b(?:yourself|yourselves|myself|ourselves|each other|one another|others|people|someone|somebody|everyone|life"
    r"|lives|hearts?|dreams?|feelings?|happiness|joy|love|hope|faith|family|friends?|kids|children|who you are)\b",
    re.IGNORECASE,
)
"""Beside a verb alone: what no work is done on."""
_WORD = re.compile(r"[^\W_][\w.'#+/-]*")
_CODE = re.compile(r"`|\w_\w|\w/\w+\.\w|\w\.(?:py|ts|tsx|js|go|rs|md|toml|json|ya?ml)\b|--\w|\b[a-z]+[A-Z]")
"""A name as code has it: in backticks, with an underscore, a path, an option, a hump."""
_WE_USE = re.compile(
    r"\bwe (?:always |never |only |don'?t |do not )*(?:use|write|commit|push|add|mock|deploy|merge|ship)\b",
    re.IGNORECASE,
)


def is_for_work(sentence: str) -> bool:
    """Whether a sentence that lays something down is about what somebody who works on a project does or handles."""
    if _CODE.search(sentence) or _WE_USE.search(sentence):
        return True
    words = _WORD.findall(sentence)
    if any(word.casefold().rstrip(".'") in _NOUNS or is_known(word.rstrip(".'")) for word in words):
        return True
    if _OF_LIFE.search(sentence):
        return False
    return any(found["verb"].casefold() in _VERBS for found in _BEFORE_A_VERB.finditer(sentence))


def tells_a_wish(word: str) -> bool:
    """Whether a word alone says what a wish is about ("always use pnpm", "never use emojis", "don't ever push")."""
    return is_known(word) or word.casefold() in _NOUNS | _WITH_GIT | _OF_FORMAT

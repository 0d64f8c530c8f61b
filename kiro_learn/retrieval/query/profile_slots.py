"""Which slots of a project's profile a prompt touches: by what it wants done, or by what it asks about.

"install lodash" wants the package manager, "what is our stack?" the languages. Doing counts only where a prompt sets
the goal of its session: later, the session knows how its project is tested. Asking counts anywhere, in forms that ask
how things are here; "can you run the tests?" is none of them.
"""

from __future__ import annotations

import re

from kiro_learn.model.profile import ProfileFact, ProjectProfile, Slot
from kiro_learn.retrieval.query.prose_lines import asks

MOST_ASKING, MOST_DOING = 300, 120
"""Characters of a prompt that is looked at for what it asks, and for what it wants done: a longer one says itself how,
or is about more than that."""

_IT = r"(?:it|this|that|the|our|my|all|everything|app|project|code|server|site|service|api|backend|frontend)"
_START = r"(?:^|[.!;,:] |\b(?:and|then|please|pls|to|let'?s|you|now|just|also) )"
_PACKAGES = r"(?:packages?|dependenc(?:y|ies)|deps?|librar(?:y|ies))"
_CHANGE = r"(?:add|remove|upgrade|update|bump)"
_START_IT = rf"{_START}(?:start|run|launch|serve|boot|spin up|fire up|bring up)(?: up)?"
_APP = r"(?:app|application|server|site|project|dev|service|api|backend|frontend|everything|stack|locally)"

_DOING: tuple[tuple[tuple[Slot, ...], tuple[str, ...]], ...] = (
    (
        (Slot.MANAGER, Slot.ADD, Slot.INSTALL),
        (
            rf"{_START}(?:un)?install\b(?! (?:the |an? |this |our )?(?:hooks?|cert\w*|service|extension|skill))",
            rf"\b{_CHANGE} (?:[\w@/.-]+ (?:as|to the) )?(?:an? |the |our |all )?(?:\w+ )?{_PACKAGES}\b",
        ),
    ),
    (
        (Slot.TEST,),
        (
            r"\b(?:run|re-?run|execute|start)\b(?: \w+){0,4} (?:tests?|specs?|test suite)\b(?![:-]| (?:plan|case))",
            r"\b(?:make sure|check|verify|see if|ensure)\b[^.?!]{0,30}\btests?\b[^.?!]{0,10}\b(?:pass|green|work|run)",
            r"\b(?:do|are) (?:all )?(?:the |our )?(?:\w+ )?tests? (?:pass|green|passing|ok)",
            rf"^tests?\W*$|{_START}test (?:it|this|everything|the (?:app|project|whole))\b",
        ),
    ),
    (
        (Slot.DEPLOY, Slot.PLATFORM, Slot.RELEASE),
        (
            rf"{_START}(?:re)?deploy\b|\bship (?:it|this|that|to)\b|\bgo live\b",
            r"\b(?:push|roll|release|put)\b[^.?!]{0,20} (?:to|on|into|in) (?:prod|production|staging)\b",
        ),
    ),
    (
        (Slot.RELEASE, Slot.BRANCH),
        (
            rf"{_START}(?:cut|make|do|prepare|tag|publish|create)(?: an?| the| our)?(?: \w+)? (?:release|version)\b",
            rf"{_START}(?:publish|release) (?:it|this|the package|a|v?\d)",
        ),
    ),
    (
        (Slot.BUILD,),
        (
            rf"{_START}(?:re-?)?(?:build|compile) {_IT}(?: {_IT})?(?: again| now| please)?\W*$|^build\W*$",
            rf"{_START}(?:run|do|make) (?:a|the) (?:clean |production |full )?build\b",
        ),
    ),
    (
        (Slot.LINT, Slot.FORMAT),
        (
            rf"{_START}lint\b|\brun (?:the )?(?:linters?|lint)\b|\b(?:fix|check)\b[^.?!]{{0,20}} lint(?:er|ing)?\b",
            rf"{_START}format (?:the |our |all |this )?(?:code|files?|project)\b",
        ),
    ),
    (
        (Slot.TYPES,),
        (
            r"\b(?:run|do|check|fix)\b[^.?!]{0,15} (?:type[- ]?check\w*|types|type errors|mypy|tsc|pyright)\b",
            rf"{_START}type-?check\b",
        ),
    ),
    (
        (Slot.RUN, Slot.INSTALL),
        (rf"{_START_IT} (?:{_IT} )?(?:{_IT} |web |dev |local |development )?{_APP}\b",),
    ),
    (
        (Slot.MIGRATE,),
        (
            rf"{_START}(?:run|apply|create|generate|do)(?: \w+){{0,3}} migrations?\b(?! \w+er\b)",
            rf"{_START}migrate the (?:db|database|schema)\b",
        ),
    ),
    (
        (Slot.BRANCH, Slot.REMOTE),
        (
            rf"{_START}(?:commit|push|merge|rebase)\b",
            r"\b(?:open|create|make|raise|submit)(?: an?| the)?(?: \w+)? (?:pr|pull request|merge request|mr)\b",
        ),
    ),
    (
        (Slot.INSTALL, Slot.RUN),
        (r"\bset ?up (?:the |this |our |my )?(?:project|repo|repository|environment|dev|development)\b",),
    ),
)

_WHAT = r"\b(?:what(?:'s| is| are)?|which|tell me|remind me|show me|do you know)(?: \w+){0,2}"
_HOW = (
    r"\b(?:how (?:do|can|should|would|could|does|to|is|are)|where (?:do|is|are|does)"
    r"|what(?:'s| is) the (?:\w+ )?(?:command|way|script)(?: \w+){0,2} to"
    r"|what do (?:i|we|you) (?:run|use|type) (?:to|for))(?: \w+){0,4}?"
)
_BY = r"(?: i| we| you| one)?"
_LANGUAGES = r"(?:node|python|ruby|go|rust|java|php|elixir|typescript)"

_ASKING: tuple[tuple[tuple[Slot, ...], tuple[str, ...]], ...] = (
    ((Slot.LANGUAGE, Slot.FRAMEWORK, Slot.SERVICE), (rf"{_WHAT} (?:stack|technolog(?:y|ies))\b(?! trace)",)),
    (
        (Slot.LANGUAGE, Slot.FRAMEWORK),
        (
            rf"{_WHAT} languages?\b|\bwritten in\b|\b{_LANGUAGES}(?:\.js)? version\b|\bversion of {_LANGUAGES}\b",
            rf"\bwhat {_LANGUAGES}(?:\.js)? (?:do|does|are|is|should)\b",
        ),
    ),
    ((Slot.FRAMEWORK,), (rf"{_WHAT} frameworks?\b",)),
    (
        (Slot.SERVICE,),
        (
            rf"{_WHAT} (?:database|db|queue|message broker) (?:do|does|are|is|did)\b",
            r"\bwhat(?:'s| is) (?:our|the|its) (?:database|db)\W*$",
        ),
    ),
    (
        (Slot.MANAGER, Slot.INSTALL),
        (
            rf"{_WHAT} package manager\b",
            r"\b(?:do|are|should) (?:we|i|you) (?:use|using) (?:npm|pnpm|yarn|bun|pip|poetry|uv)\b",
        ),
    ),
    (
        (Slot.TEST,),
        (
            rf"{_HOW}{_BY} (?:run|execute|start) (?:\w+ ){{0,3}}(?:tests?|suite)\b(?![:-]| (?:for|that|case|plan))",
            rf"{_HOW}{_BY} test {_IT}(?: {_IT})?\W*$|{_WHAT} (?:test (?:runner|framework|command)|testing framework)\b",
        ),
    ),
    (
        (Slot.BUILD,),
        (rf"{_HOW} (?:build|compile|built|compiled)\b(?: {_IT}){{0,3}}\W*$|{_WHAT} build command\b",),
    ),
    ((Slot.LINT, Slot.FORMAT), (rf"{_HOW} (?:lint|linter|formatter?)\b|{_WHAT} (?:linter|formatter)\b",)),
    (
        (Slot.RUN, Slot.INSTALL),
        (rf"{_HOW} (?:run|start|launch) (?:{_IT} ){{0,2}}(?:{_IT}|locally|dev server)(?: locally)?\W*$",),
    ),
    ((Slot.DEPLOY, Slot.PLATFORM), (rf"{_HOW} (?:deploy(?:ed|ment)?|ship|host(?:ed)?)\b(?! (?:of|to (?!prod)))",)),
    ((Slot.MIGRATE,), (rf"{_HOW} (?:run|apply) (?:the |our |db |database )*migrations?\b",)),
    (
        (Slot.INSTALL,),
        (
            rf"{_HOW} install (?:the |our |all )*(?:{_PACKAGES}|requirements)\b",
            rf"{_HOW} set ?up (?:the |this |our )?(?:project|repo)",
        ),
    ),
    ((Slot.RELEASE,), (rf"{_HOW} (?:cut|make|do|publish) (?:a |the )?(?:new )?releases?\b",)),
    ((Slot.BRANCH,), (rf"{_WHAT} (?:default|main|base|trunk) branch\b|\b(?:which|what) branch (?:do|should|is|to)\b",)),
    ((Slot.CI,), (rf"{_WHAT} ci\b",)),
)
_DOES, _ASKS = (
    tuple((slots, re.compile("|".join(forms), re.IGNORECASE)) for slots, forms in table) for table in (_DOING, _ASKING)
)
_ACTS = re.compile(rf"{_START}(commit|deploy|release|merge|push|rebase|publish)\b", re.IGNORECASE)
_ASKS_FOR_A_TOOL = re.compile(
    r"\b(?:do|does|are|is|did) (?:we|you|i|it|this|the \w+) (?:\w+ )?(?:use|using|have|on|need|run)\b"
    r"|\b(?:which|what) versions?\b|\bversion (?:of|do|is|are)\b|^(?:is it |are we on )?[\w.+#-]+,? or [\w.+#-]+\W*$",
    re.IGNORECASE,
)
_VERSION = re.compile(r" v?[\d(<>=~^!].*")
_NAMED = frozenset({Slot.LANGUAGE, Slot.FRAMEWORK, Slot.SERVICE, Slot.MANAGER})
_LEAST_OF_A_NAME = 5
"""Characters of a word that may stand for the whole name that begins with it: "postgres" for PostgreSQL."""
_ASKING_FIRST = ("what", "which", "how ", "where", "tell me", "remind me")


def slots_of(question: str, *, sets_goal: bool) -> tuple[Slot, ...]:
    """The slots that a prompt touches, what is most wanted first; none if it touches none.

    Args:
      question: what was typed, without what was pasted beside it.
      sets_goal: its prompt may set the goal of its session.
    """
    text = " ".join(question[: 2 * MOST_ASKING].replace("\u2019", "'").split())
    is_asked = asks(text) or text.lower().startswith(_ASKING_FIRST)
    asking = _ASKS if is_asked and len(text) <= MOST_ASKING else ()
    doing = _DOES if sets_goal and len(text) <= MOST_DOING else ()
    return next((slots for slots, form in (*asking, *doing) if form.search(text)), ())


def acts_of(question: str) -> frozenset[str]:
    """What a short prompt orders of what people have standing wishes about: "commit", "deploy", in small letters."""
    text = " ".join(question[: 2 * MOST_DOING].split())
    return frozenset(found.lower() for found in _ACTS.findall(text)) if len(text) <= MOST_DOING else frozenset()


def tools_asked_for(question: str, profile: ProjectProfile) -> tuple[ProfileFact, ...]:
    """What of ``profile`` a question names that asks whether it is used, which of two is, or in which version."""
    text = " ".join(question[: 2 * MOST_ASKING].split()).casefold()
    words = {word.strip(".") for word in re.findall(r"[\w.+#-]+", text)}
    return tuple(fact for fact in profile.facts if fact.slot in _NAMED and _is_named(fact.value, text, words))


def may_ask_for_a_tool(question: str) -> bool:
    """Whether it is worth reading the profile for ``tools_asked_for``."""
    text = " ".join(question[: 2 * MOST_ASKING].split())
    is_asked = asks(text) or text.lower().startswith(_ASKING_FIRST)
    return is_asked and len(text) <= MOST_ASKING and _ASKS_FOR_A_TOOL.search(text) is not None


def _is_named(value: str, text: str, words: set[str]) -> bool:
    name = _VERSION.sub("", value).casefold()
    if " " in name:
        return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
    return name in words or any(len(word) >= _LEAST_OF_A_NAME and name.startswith(word) for word in words)

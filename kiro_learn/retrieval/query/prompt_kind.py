"""The kind of a prompt, and the slots of a project's profile that it touches."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

from kiro_learn.model.profile import ProfileFact, ProjectProfile, Slot
from kiro_learn.retrieval.query.prose import asks
from kiro_learn.retrieval.query.question import MEANING_CHARACTERS
from kiro_learn.retrieval.query.syntax import terms

# The kind of a prompt. It decides how much of the memory the agent is told.
#
# Most prompts of a session go on with its topic: they approve, correct, paste a result, name the next step. The agent
# has all that these need, and memories would lead it astray (docs/retrieval.md, "When to speak"). So the memory speaks
# where a goal is set, and where somebody asks about the past.


class PromptKind(Enum):
    """What a prompt wants."""

    BARE_COMMAND = "bare command"
    """A slash command without an argument, or a call of Git: nothing in it can be looked up."""
    QUESTION = "question"
    """It sets the goal of its session by a question."""
    TASK = "task"
    """It sets the goal by a task."""
    SELF_CONTAINED = "self-contained"
    """It sets the goal by a task and brings what the task needs: a plan made with known facts, or a log."""
    AT_HAND = "at hand"
    """It sets the goal by something in the work tree, in a review or on the screen."""
    PAST = "past"
    """It asks, anywhere in a session, what was decided, done or found before."""
    STEP = "step"
    """It goes on with the topic of the session."""


GOALS = frozenset({PromptKind.QUESTION, PromptKind.TASK, PromptKind.SELF_CONTAINED, PromptKind.AT_HAND})
"""The kinds that set the goal of a session."""

BROUGHT_CHARACTERS = 1_000
"""How many characters besides the question make a task self-contained."""

_PAST = re.compile(
    r"\b(?:"
    r"remind me|tell me again|do you (?:remember|recall)|as (?:we )?discussed|(?:like|as) last time|again how"
    r"|last (?:time|week|month)|yesterday|(?:last|earlier|previous) (?:session|conversation|chat|thread)"
    r"|where we left off|(?:did|had|have)n'?t we"
    r"|(?:did|have|had) we (?:ever |already |not )?(?:agree|decid|discuss|do|done|fix|have|rul|see|solv|tr[iy]|us)\w*"
    r"|(?:why|how|what|when|where|which \w+) (?:did|had|have) we"
    r"|(?:why|how|what|when|where|which \w+) did i (?:\w+ )?(?:call|choos|decid|do|name|put|sa[iy]|set|us)\w*"
    r"|we (?:agreed|decided|discussed|talked about|ruled out)"
    r"|(?:was|warum|wieso|weshalb|wie|wo|wann|welche\w*(?: \w+)?) (?:haben|hatten) wir"
    r"|(?:did|have|had) we (?:ever |already )?(?:look(?:ed)? (?:at|into)"
    r"|(?:consider|measur|evaluat|compar|benchmark|think)\w*)"
    r"|what did \S+(?: \S+)? (?:cost|bring|gain|give|save|show) us"
    r"|(?:what|how (?:much|many|long|high|big|slow|fast)|which \w+|why|where|when)\b[^?.]{0,60}\b(?:was|were|did)\b"
    r"[^?.]{0,80}\b(?:before (?:we|the|that|it)?|back then|at the time|originally|previously|in the past)"
    r"|haben wir (?:\S+ ){0,6}(?:beschlossen|entschieden|(?:aus)?probiert|überlegt|geprüft|getestet|gemessen|erwogen"
    r"|besprochen|versucht|gewählt)"
    r"|(?:warum|wieso|weshalb|seit wann) (?:sind|waren) wir"
    r"|(?:was|wie \w+|wo|wer|wann|warum|wieso|welche\w*)\b[^?]{0,60}\b(?:war|waren|hat|hatte|hatten)\b[^?]{0,60}"
    r"\b(?:vor(?:her)?|damals|früher|ursprünglich|direkt nach)"
    r"|erinner\w* mich|letztes mal"
    r"|(?:pourquoi|comment|que|quand) (?:avons[- ]nous|(?:est-ce qu)?['e ]?on a)|rappelle[- ]moi"
    r"|(?:por qué|cómo|qué|cuándo) (?:decidimos|elegimos|acordamos|usamos|hemos)|recuérdame"
    r")\b|(?:前回|先週|昨日|なぜ|何に|どう)[^\n]{0,40}(?:決め|やめ|選ん|採用し)"
    r"|(?:上次|为什么|当时)[^\n]{0,40}(?:决定|选择?了|放弃)",
    re.IGNORECASE,
)
_PAST_CHARACTERS = 600
"""The most characters of a prompt that is searched for the past. A longer one is a paste, or tells the past itself."""

_BARE_COMMAND = re.compile(
    r"/[\w:.-]+\s*"
    r"|(?:run )?git (?:status|pull|push|fetch|log|diff|stash|branch|show|add|rebase|merge|checkout|switch)"
    r"(?: (?:--?[\w=-]+|origin|upstream|main|master|HEAD[~^\d]*|\.|[\w-]*[/.][\w/.-]+))*"
    r"|(?:run )?(?:ls|pwd)(?: (?:--?[\w-]+|[\w-]*[/.][\w/.-]*))*",
    re.IGNORECASE,
)

_REQUEST = re.compile(
    r"(?:^|[.?!,;:\n\"`)]|\bbut\b)[\s\W]{0,3}(?:(?:hey|hi|ok|so|and|please|pls)[\s,]{1,3}){0,3}"
    r"(?:(?:can|could|would|will) you|could we|can we (?=(?:add|also|change|fix|just|move|please|remove|rename)\b))\b"
    r"(?! (?:please )?(?:tell|explain|describe|say)\b)",
    re.IGNORECASE,
)

_AT_HAND = re.compile(
    r"\breview\b[^.?!]{0,40}\b(?:changes|diff|branch|pr|commit|pull request)\b"
    r"|\b(?:create|switch to|check ?out|start)\b[^.?!]{0,20}\bbranch\b"
    r"|\b(?:feedback|comments?)\b[^.?!]{0,30}\b(?:pr|pull request|branch|review|coderabbit)\b"
    r"|\b(?:look at|read|summari[sz]e|summary of|describe|description (?:for|of))\b[^.?!]{0,60}"
    r"\b(?:diff|pr|mr|(?:merge|pull) request|my changes|(?:this|my) commits?)\b"
    r"(?![^?!]{0,80}\b(?:change|fix|put|revert)\b)"
    r"|\bcommit [\da-f]{7,40}\b[^?!]{0,40}\breview\b",
    re.IGNORECASE,
)


_WORK_ALONE = re.compile(
    r"(?:please |can you |ok,? )?(?:(?:re-?)?run |check |and )?(?:all |the |our )*"
    r"(?:tests?|build|lint(?:er)?|ci|status)(?: again)?[?.! ]*",
    re.IGNORECASE,
)
_POINTS = re.compile(r"\b(?:this|that|these|those|it|here)\b", re.IGNORECASE)


def kind_of(prompt: str, question: str, *, sets_goal: bool) -> PromptKind:
    """The kind of ``prompt``; ``question`` is the typed part of it, without pasted text.

    Args:
      sets_goal: no earlier prompt of its session, or of this sitting, set the goal.
    """
    if _BARE_COMMAND.fullmatch(prompt.strip()):
        return PromptKind.BARE_COMMAND
    if len(question) <= _PAST_CHARACTERS and _PAST.search(question):
        return PromptKind.PAST
    if not sets_goal:
        return PromptKind.STEP
    if _AT_HAND.search(question) or _only_points(question):
        return PromptKind.AT_HAND
    if _asks_to_know(question):
        return PromptKind.QUESTION
    return PromptKind.SELF_CONTAINED if _brought_characters(prompt, question) >= BROUGHT_CHARACTERS else PromptKind.TASK


def _only_points(question: str) -> bool:
    """Whether ``question`` names only "this" ("how do I fix this?"), or a bare step of work ("run the tests")."""
    is_pointing = len(terms(question)) <= 1 and _POINTS.search(question) is not None
    return is_pointing or _WORK_ALONE.fullmatch(question.strip()) is not None


def _brought_characters(prompt: str, question: str) -> int:
    return len(prompt) - min(len(question), MEANING_CHARACTERS)


def _asks_to_know(question: str) -> bool:
    """Whether ``question`` ends as a question and asks for no work: "can you mend it? Or is it late?" is a task."""
    return asks(question) and not _REQUEST.search(question)


# Names of single things in a prompt: files, identifiers, addresses. A memory with the same name is about the same
# thing, whatever the other words of both are.

MOST_NAMES = 4
_URL = re.compile(r"\b[a-z]{2,10}://\S+")
_NAME = re.compile(
    r"(?:[\w@~.-]{1,60}+/){1,12}[\w-]{1,60}\.[A-Za-z]\w{0,5}\b|(?:@|\.{1,2}/)(?:[\w-]{1,60}+/){1,12}[\w-]{1,60}"
    r"|(?:[\w@-]{1,60}+/){3,12}[\w-]{1,60}"
    r"|\b[\w-]{1,60}\.(?:py|tsx?|jsx?|mjs|go|rs|java|rb|c|cpp|h|css|html|json|toml|ya?ml|mdc?|sh|sql|lock|env|ini|cfg"
    r"|swift|kt|cs|php|vue)\b"
    r"|\b(?:localhost|[\w-]{1,60}+(?:\.[\w-]{1,60}+){1,6}):\d{2,5}\b|\b[A-Za-z][\w-]{0,60}:\d{4,5}\b"
    r"|\b[A-Za-z][A-Za-z0-9]{0,40}(?:_[A-Za-z0-9]{1,40}+){1,8}\b|\b[a-z]{2,40}(?:[A-Z][a-z0-9]{1,40}+){1,8}\b"
    r"|\b(?:[A-Z][a-z0-9]{1,40}+){3,8}\b"
)
_NUMBER = re.compile(r"[\dT:/._-]+|[\da-f]{7,64}(?:-[\da-f]{1,64}){0,8}")


def names_in(question: str) -> tuple[str, ...]:
    """The files, identifiers and addresses that ``question`` names, the first MOST_NAMES.

    A product's name ("GitHub", "LangSmith") is not one: it begins with a capital and has only two parts.
    """
    text = _URL.sub(" ", question[:MEANING_CHARACTERS])
    found = (name for name in _NAME.findall(text) if not _NUMBER.fullmatch(name))
    return tuple(name for name, _ in zip(dict.fromkeys(found), range(MOST_NAMES), strict=False))


def has_name(text: str, name: str) -> bool:
    """Whether ``name`` stands in ``text`` by itself or at the end of a path, in any case."""
    bare = name.removeprefix("@").removeprefix("./")
    # Most texts do not have the name at all. A plain search shows that twenty times as fast.
    if bare.lower() not in text.lower():
        return False
    return re.search(rf"(?<![\w-]){re.escape(bare)}(?![\w-])", text, re.IGNORECASE) is not None


# The slots of a project's profile that a prompt touches: by what it wants done, or by what it asks.
#
# "install lodash" touches the package manager, "what is our stack?" the languages. Orders count only if a prompt sets
# the goal of its session: later, the session knows how its project is tested. Questions count anywhere, if they ask how
# things are here; "can you run the tests?" does not.

MOST_ASKING, MOST_DOING = 300, 120
"""The most characters of a prompt that is searched for questions, and for orders. A longer prompt says itself how to do
it, or is about more than that.
"""

_IT = r"(?:it|this|that|the|our|my|all|everything|app|project|code|server|site|service|api|backend|frontend)"
_START = r"(?:^|[.!;,:] |\b(?:and|then|please|pls|to|let'?s|you|now|just|also) )"
_PACKAGES = r"(?:packages?|dependenc(?:y|ies)|deps?|librar(?:y|ies))"
_CHANGE = r"(?:add|remove|upgrade|update|bump)"
_START_IT = rf"{_START}(?:start|run|launch|serve|boot|spin up|fire up|bring up)(?: up)?"
_APP = r"(?:app|application|server|site|project|dev|service|api|backend|frontend|everything|stack|locally)"

_DOING: Mapping[tuple[Slot, ...], tuple[str, ...]] = {
    (Slot.MANAGER, Slot.ADD, Slot.INSTALL): (
        rf"{_START}(?:un)?install\b(?! (?:the |an? |this |our )?(?:hooks?|cert\w*|service|extension|skill))",
        rf"\b{_CHANGE} (?:[\w@/.-]+ (?:as|to the) )?(?:an? |the |our |all )?(?:\w+ )?{_PACKAGES}\b",
    ),
    (Slot.TEST,): (
        r"\b(?:run|re-?run|execute|start)\b(?: \w+){0,4} (?:tests?|specs?|test suite)\b(?![:-]| (?:plan|case))",
        r"\b(?:make sure|check|verify|see if|ensure)\b[^.?!]{0,30}\btests?\b[^.?!]{0,10}\b(?:pass|green|work|run)",
        r"\b(?:do|are) (?:all )?(?:the |our )?(?:\w+ )?tests? (?:pass|green|passing|ok)",
        rf"^tests?\W*$|{_START}test (?:it|this|everything|the (?:app|project|whole))\b",
    ),
    (Slot.DEPLOY, Slot.PLATFORM, Slot.RELEASE): (
        rf"{_START}(?:re)?deploy\b|\bship (?:it|this|that|to)\b|\bgo live\b",
        r"\b(?:push|roll|release|put)\b[^.?!]{0,20} (?:to|on|into|in) (?:prod|production|staging)\b",
    ),
    (Slot.RELEASE, Slot.BRANCH): (
        rf"{_START}(?:cut|make|do|prepare|tag|publish|create)(?: an?| the| our)?(?: \w+)? (?:release|version)\b",
        rf"{_START}(?:publish|release) (?:it|this|the package|a|v?\d)",
    ),
    (Slot.BUILD,): (
        rf"{_START}(?:re-?)?(?:build|compile) {_IT}(?: {_IT})?(?: again| now| please)?\W*$|^build\W*$",
        rf"{_START}(?:run|do|make) (?:a|the) (?:clean |production |full )?build\b",
    ),
    (Slot.LINT, Slot.FORMAT): (
        rf"{_START}lint\b|\brun (?:the )?(?:linters?|lint)\b|\b(?:fix|check)\b[^.?!]{{0,20}} lint(?:er|ing)?\b",
        rf"{_START}format (?:the |our |all |this )?(?:code|files?|project)\b",
    ),
    (Slot.TYPES,): (
        r"\b(?:run|do|check|fix)\b[^.?!]{0,15} (?:type[- ]?check\w*|types|type errors|mypy|tsc|pyright)\b",
        rf"{_START}type-?check\b",
    ),
    (Slot.RUN, Slot.INSTALL): (rf"{_START_IT} (?:{_IT} )?(?:{_IT} |web |dev |local |development )?{_APP}\b",),
    (Slot.MIGRATE,): (
        rf"{_START}(?:run|apply|create|generate|do)(?: \w+){{0,3}} migrations?\b(?! \w+er\b)",
        rf"{_START}migrate the (?:db|database|schema)\b",
    ),
    (Slot.BRANCH, Slot.REMOTE): (
        rf"{_START}(?:commit|push|merge|rebase)\b",
        r"\b(?:open|create|make|raise|submit)(?: an?| the)?(?: \w+)? (?:pr|pull request|merge request|mr)\b",
    ),
    (Slot.INSTALL, Slot.RUN): (
        r"\bset ?up (?:the |this |our |my )?(?:project|repo|repository|environment|dev|development)\b",
    ),
}
"""Forms of orders that these slots say how to carry out. The first form found counts."""

_WHAT = r"\b(?:what(?:'s| is| are)?|which|tell me|remind me|show me|do you know)(?: \w+){0,2}"
_HOW = (
    r"\b(?:how (?:do|can|should|would|could|does|to|is|are)|where (?:do|is|are|does)"
    r"|what(?:'s| is) the (?:\w+ )?(?:command|way|script)(?: \w+){0,2} to"
    r"|what do (?:i|we|you) (?:run|use|type) (?:to|for))(?: \w+){0,4}?"
)
_BY = r"(?: i| we| you| one)?"
_LANGUAGES = r"(?:node|python|ruby|go|rust|java|php|elixir|typescript)"

_SAID_IN = r".{0,80}\b(?:texts?|comments?|messages?|customers?|speak|answers?|mails?|docs?)\b"
"""Words after a language that is spoken, or that people write for people."""

_ASKING: Mapping[tuple[Slot, ...], tuple[str, ...]] = {
    (Slot.LANGUAGE, Slot.FRAMEWORK, Slot.SERVICE): (rf"{_WHAT} (?:stack|technolog(?:y|ies))\b(?! trace)",),
    (Slot.LANGUAGE, Slot.FRAMEWORK): (
        rf"{_WHAT} languages?\b(?!{_SAID_IN})",
        rf"\bwritten in\b|\b{_LANGUAGES}(?:\.js)? version\b|\bversion of {_LANGUAGES}\b",
        rf"\bwhat {_LANGUAGES}(?:\.js)? (?:do|does|are|is|should)\b",
    ),
    (Slot.FRAMEWORK,): (rf"{_WHAT} frameworks?\b",),
    (Slot.SERVICE,): (
        rf"{_WHAT} (?:database|db|queue|message broker) (?:do|does|are|is|did)\b",
        r"\bwhat(?:'s| is) (?:our|the|its) (?:database|db)\W*$",
    ),
    (Slot.MANAGER, Slot.INSTALL): (
        rf"{_WHAT} package manager\b",
        r"\b(?:do|are|should) (?:we|i|you) (?:use|using) (?:npm|pnpm|yarn|bun|pip|poetry|uv)\b",
    ),
    (Slot.TEST,): (
        rf"{_HOW}{_BY} (?:run|execute|start) (?:\w+ ){{0,3}}(?:tests?|suite)\b(?![:-]| (?:for|that|case|plan))",
        rf"{_HOW}{_BY} test {_IT}(?: {_IT})?\W*$|{_WHAT} (?:test (?:runner|framework|command)|testing framework)\b",
    ),
    (Slot.BUILD,): (rf"{_HOW} (?:build|compile|built|compiled)\b(?: {_IT}){{0,3}}\W*$|{_WHAT} build command\b",),
    (Slot.LINT, Slot.FORMAT): (rf"{_HOW} (?:lint|linter|formatter?)\b|{_WHAT} (?:linter|formatter)\b",),
    (Slot.RUN, Slot.INSTALL): (
        rf"{_HOW} (?:run|start|launch) (?:{_IT} ){{0,2}}(?:{_IT}|locally|dev server)(?: locally)?\W*$",
    ),
    (Slot.DEPLOY, Slot.PLATFORM): (rf"{_HOW} (?:deploy(?:ed|ment)?|ship|host(?:ed)?)\b(?! (?:of|to (?!prod)))",),
    (Slot.MIGRATE,): (rf"{_HOW} (?:run|apply) (?:the |our |db |database )*migrations?\b",),
    (Slot.INSTALL,): (
        rf"{_HOW} install (?:the |our |all )*(?:{_PACKAGES}|requirements)\b",
        rf"{_HOW} set ?up (?:the |this |our )?(?:project|repo)",
    ),
    (Slot.RELEASE,): (rf"{_HOW} (?:cut|make|do|publish) (?:a |the )?(?:new )?releases?\b",),
    (Slot.BRANCH,): (rf"{_WHAT} (?:default|main|base|trunk) branch\b|\b(?:which|what) branch (?:do|should|is|to)\b",),
    (Slot.CI,): (rf"{_WHAT} ci\b",),
    (Slot.PORT,): (rf"{_WHAT} port\b(?! \w+ing\b)|\b(?:what|which) (?:was|were) (?:our|the|its) (?:\w+ )?port\b",),
}
"""Forms of questions about the content of these slots. The first form found counts."""
_DOES, _ASKS = (
    tuple((slots, re.compile("|".join(forms), re.IGNORECASE)) for slots, forms in table.items())
    for table in (_DOING, _ASKING)
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
"""The fewest characters of a word that may stand for a name that begins with it: "postgres" for PostgreSQL."""
_ASKING_FIRST = ("what", "which", "how ", "where", "tell me", "remind me")


def slots_of(question: str, *, sets_goal: bool) -> tuple[Slot, ...]:
    """The slots that a prompt touches, the most wanted first; none if it touches no slot.

    Args:
      question: the typed part of the prompt, without pasted text.
      sets_goal: the prompt may set the goal of its session.
    """
    text = " ".join(question[: 2 * MOST_ASKING].replace("\u2019", "'").split())
    is_asked = asks(text) or text.lower().startswith(_ASKING_FIRST)
    asking = _ASKS if is_asked and len(text) <= MOST_ASKING else ()
    doing = _DOES if sets_goal and len(text) <= MOST_DOING else ()
    return next((slots for slots, form in (*asking, *doing) if form.search(text)), ())


def acts_of(question: str) -> frozenset[str]:
    """The acts that a short prompt orders and that standing wishes are about: "commit", "deploy", in small letters."""
    text = " ".join(question[: 2 * MOST_DOING].split())
    return frozenset(found.lower() for found in _ACTS.findall(text)) if len(text) <= MOST_DOING else frozenset()


def tools_asked_for(question: str, profile: ProjectProfile) -> tuple[ProfileFact, ...]:
    """The facts of ``profile`` whose tools ``question`` names. ``may_ask_for_a_tool`` says if it asks about one."""
    text = " ".join(question[: 2 * MOST_ASKING].split()).casefold()
    words = {word.strip(".") for word in re.findall(r"[\w.+#-]+", text)}
    return tuple(fact for fact in profile.facts if fact.slot in _NAMED and _is_named(fact.value, text, words))


def asks_whether(question: str) -> bool:
    """Whether ``question`` asks if something was so, and not what was."""
    return question.lstrip().lower().startswith(("did ", "have ", "had ", "has ", "was ", "were "))


def may_ask_for_a_tool(question: str) -> bool:
    """Whether ``question`` is worth reading the profile for ``tools_asked_for``."""
    text = " ".join(question[: 2 * MOST_ASKING].split())
    is_asked = asks(text) or text.lower().startswith(_ASKING_FIRST)
    return is_asked and len(text) <= MOST_ASKING and _ASKS_FOR_A_TOOL.search(text) is not None


def _is_named(value: str, text: str, words: set[str]) -> bool:
    name = _VERSION.sub("", value).casefold()
    if " " in name:
        return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
    return name in words or any(len(word) >= _LEAST_OF_A_NAME and name.startswith(word) for word in words)

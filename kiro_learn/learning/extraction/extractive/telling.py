"""Whether an answer says something that is worth a memory: it lasts, or it briefly tells what was asked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kiro_learn.learning.extraction.extractive.chatter import is_of_the_moment, own_words, tells_how_things_stand
from kiro_learn.learning.extraction.extractive.corrections import corrected_request, corrects_value
from kiro_learn.learning.extraction.extractive.durability import TurnAim, gives_reasons, lasts, tells_cause, wanted_by
from kiro_learn.learning.extraction.extractive.durable import choice_in
from kiro_learn.learning.extraction.extractive.facts import files_in
from kiro_learn.learning.extraction.extractive.faults import is_guess
from kiro_learn.learning.extraction.extractive.markdown import Block, BlockKind
from kiro_learn.learning.extraction.extractive.turns import Turn
from kiro_learn.learning.extraction.extractive.vocabulary import sentences
from kiro_learn.model.wording import letters
from kiro_learn.retrieval.query.prose import asks

_LEAST_CHARACTERS = 40
"""The fewest letters of an answer without its chatter. A shorter one is mostly kept only for rules in its prompt."""

_TELLING = re.compile(r"\d|`|\w[._:/\\@#-]\w|[a-z][A-Z]|[A-Z]{2}|(?<=[a-z,;] )[A-Z][a-z]")
_DENYING = re.compile(r"(?:no|not|never|none|nein|non|nee|нет)\b", re.IGNORECASE)

_QUESTION_WORD = re.compile(r"\s*(?:how|what|when|where|which|who|why)\b", re.IGNORECASE)


def says_something(turn: Turn, blocks: Sequence[Block], is_decided: bool) -> bool:
    """Whether the answer is worth a memory; ``blocks`` are its blocks without chatter.

    Args:
      is_decided: a person laid something down in the turn, or answered a tool that asked.
    """
    length = sum(letters(block.text) for block in blocks)
    has_changed = bool(files_in(turn.tools, "").modified)
    if _seeks_fact(turn) and tells_fact(blocks):
        return True
    if is_of_the_moment(block.text for block in blocks) and not has_changed:
        return False
    if length >= _LEAST_CHARACTERS:
        return lasts(turn, blocks, has_changed=has_changed, is_decided=is_decided)
    names_something = has_changed and any(_TELLING.search(block.text) for block in blocks)
    is_corrected = corrects_value(turn) if has_changed else bool(corrected_request(turn))
    if length > 0 and (choice_in(turn.question) or is_corrected or (names_something and gives_reasons(turn))):
        return True
    return bool(blocks) and wanted_by(turn) is not TurnAim.STATE and _tells_what_was_asked(turn, blocks)


def _tells_what_was_asked(turn: Turn, blocks: Sequence[Block]) -> bool:
    """Whether the answer to a named question has a number, a name or code, or is a "no" with a reason."""
    if tells_cause(turn, blocks):
        return True
    if not asks_something(turn):
        return False
    answer = " ".join(block.text for block in blocks)
    return _TELLING.search(answer) is not None or (_DENYING.match(answer) is not None and bool(own_words(answer)))


def asks_something(turn: Turn) -> bool:
    """Whether the last prompt asks something and names what."""
    question = turn.prompts[-1].text if turn.prompts else ""
    is_question = asks(question) or _QUESTION_WORD.match(question) is not None or _seeks_fact(turn)
    return is_question and bool(own_words(question))


def _seeks_fact(turn: Turn) -> bool:
    is_fact_wanted = bool(turn.prompts) and bool(sought_in(turn.prompts[-1].text))
    return is_fact_wanted and wanted_by(turn) in {TurnAim.ANSWER, TurnAim.WORK}


# Questions for a fact (which, where, who, how to), also without a mark, and short answers that tell the fact.
#
# Such an answer needs no reason to be worth a memory: "Metabase listens on port 3070 on kelvin."

_LEAD = (
    r"\W*+(?:(?:and|but|so|ok|okay|hey|hi|hello|hm+|sorry|btw|by the way|good morning|quick question|one question"
    r"|(?:sorry )?to ask again|one (?:more )?(?:thing|question)|again|just|please|(?:on|in|at|from|to|for|with|by)"
    r"(?= (?:which|what|where|whom?|whose)\b))\b[\s,.:!]*+)*+"
)
_SOUGHT = (
    r"(?:where(?:'?s| (?!(?:were|did) (?:we|you)\b)\w+)\b"
    r"|(?:which|whose|what) (?!(?:did|do|does|have|has|had|was|were|should|would|can|could|will"
    r"|happen\w*|about|if|of|one)\b)\w+"
    r"|what(?:'?s| is| are) (?:the|our|its) |who(?:'?s| (?!(?:are|did|do|was|were) (?:you|we|i)\b)\w+)\b"
    r"|how (?:do|does|can|could|to|often|is|are|one|you|we|i|exactly)\b|when (?:do|does|is|are)\b)"
)
_WISH = (
    r"(?:(?:do|would) you (?:happen to |still |maybe )?(?:know|remember)|(?:can|could|would) you (?:please |maybe )?"
    r"(?:tell|say|show|remind)(?: to)?(?: me| us)?|(?:please )?(?:tell|show|remind|say)(?: to)? (?:me|us)"
    r"|i(?:'d| would| want(?:ed)?)(?: also)?(?: like| love| need)? to (?:know|ask(?: you)?|see|understand)"
    r"|i need to know|i(?: have|'ve)?(?: again| always| totally)? (?:forgot(?:ten)?|forget)(?: again)?"
    r"|i (?:do not|don't|can't|cannot|could not|couldn't) (?:remember|know|find|recall|see)(?: anymore| any more)?"
    r"|i(?:'m| am) not sure(?: anymore)?|i (?:was )?wonder(?:ing)?|any idea"
    r"|it would be (?:nice|good|great|helpful) to know)"
)
_INQUIRY = re.compile(
    rf"{_LEAD}(?:(?P<wish>{_WISH}[\s,:]++(?:please |again |anymore |if |from |on |in |at |to |with )*+)?"
    rf"(?P<sought>{_SOUGHT})|i (?:do not|don't|can't|cannot|could not|couldn't) find (?:the|our|any)\b)",
    re.IGNORECASE,
)
_OF_THE_TALK = re.compile(
    r"\b(?:(?:did|have|had|has|was|were|are|am) (?:you|we|i)\b(?! (?:supposed|allowed|meant)\b)"
    r"|you (?:just |already )?(?:chang|creat|did|do|fix|found|made|put|say|said|saw|wrote)\w*"
    r"|(?:this|that|the) (?:error|message|pr|output|diff|change)s?\b|(?:left|next|missing|here|now)\b\W*$)",
    re.IGNORECASE,
)
"""Words of a question about the work of the day."""
_LONGEST_INQUIRY, _LONGEST_ANSWER, _MOST_SAID = 160, 360, 4
"""The most characters of such a question; and of its answer, and the most sentences, items and lines of that."""

_DONE = re.compile(
    r"\W*+(?:i|we)(?:'ve|'ll|'m| have| had| will| am| just| now| also)?+ (?!(?:recommend|would|use|keep|call)\b)\w+"
    r"|\W*+please\b",
    re.IGNORECASE,
)
"""The beginning of a sentence about what its speaker did or wants."""
_OF_THE_HOUR = re.compile(
    r"\b(?:today|tonight|yesterday|this (?:morning|afternoon|evening)|currently|right now|just now|so far|still|yet|ago"
    r"|since \d{1,2}[:.]\d\d|at the moment|(?:is|are|was|were) (?:running|open|waiting|connected|busy|failing))\b",
    re.IGNORECASE,
)
"""Words of an answer that is true for an hour."""


def sought_in(prompt: str) -> str:
    """The question of ``prompt`` for a place, a name, a number or a way, without "I would like to know"; or the empty
    text. A question about the work of the day is none.
    """
    said = prompt.replace("\u2019", "'").strip()
    if len(said) > _LONGEST_INQUIRY or _OF_THE_TALK.search(said) or not own_words(said):
        return ""
    for sentence in sentences(said):
        if found := _INQUIRY.match(sentence):
            asked = sentence[max(found.start("sought"), 0) :]
            return asked.rstrip(" ?") if found["wish"] else asked
    return ""


def tells_fact(blocks: Sequence[Block]) -> bool:
    """Whether ``blocks`` are a short answer that names what was sought: a name, a number, code or a command."""
    said = [
        (block.kind, each)
        for block in blocks
        for each in (sentences(block.text) if block.kind is BlockKind.TEXT else [block.text])
    ]
    if not 0 < len(said) <= _MOST_SAID or sum(len(block.text) for block in blocks) > _LONGEST_ANSWER:
        return False
    spoken = [each.replace("\u2019", "'") for kind, each in said if kind is not BlockKind.CODE]
    if any(asks(each) or _DONE.match(each) or _OF_THE_HOUR.search(each) for each in spoken):
        return False
    if any(map(is_guess, spoken[:1])):
        return False
    # "On newton, …" answers where something is. Without a question it would say which branch is checked out.
    placed = (each.removeprefix("On ") for each in spoken)
    names = (each for each in placed if _TELLING.search(each) and not tells_how_things_stand(each))
    return any(kind is BlockKind.CODE for kind, _ in said) or any(map(own_words, names))

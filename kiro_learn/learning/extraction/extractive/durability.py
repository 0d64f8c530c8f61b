"""Decides whether the content of a turn still holds next month, by the kind of evidence in it.

Evidence is a cause, a limit, a rejected approach, or a change that names what it touches. "It runs", "it passes", "it
is done", a next step and a list of open points hold for an hour: their events are kept, and no memory is made of them.

An answer is kept if enough of it is evidence. How much is enough depends on the request: little for a question or a
change; much for a bare command, a step of a plan, or a message that no person asked for. The shares were chosen by
reading four histories, so they are tuned on them.

Whether an answer did not help shows in the person's next prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

import attrs

from kiro_learn.learning.extraction.extractive.chatter import (
    asks_for_the_moment,
    asks_in_passing,
    asks_nothing,
    is_commit_request,
    own_words,
    tells_how_things_stand,
)
from kiro_learn.learning.extraction.extractive.durable import choice_in
from kiro_learn.learning.extraction.extractive.facts import worth
from kiro_learn.learning.extraction.extractive.faults import asks_why, is_about_fault, is_guess, says_how_things_are
from kiro_learn.learning.extraction.extractive.markdown import Block, BlockKind
from kiro_learn.learning.extraction.extractive.own_text import asks_by_form
from kiro_learn.learning.extraction.extractive.turns import Turn
from kiro_learn.learning.extraction.extractive.vocabulary import is_english, sentences
from kiro_learn.retrieval.query.prose import asks

_REASON = re.compile(
    r"\b(?:because|root cause|caus(?:ed|es|ing)\b|the reason|due to|so that|which is why|that's why|since|otherwise"
    r"|which means|to avoid|prevents?|would|instead of|rather than|on purpose|by design|deliberate(?:ly)?|trade-?off"
    r"|decided|chose|not needed|not worth|unnecessary|the (?:issue|problem|fix|cause|bug) (?:is|was)|doesn't|don't"
    r"|can't|cannot|won't|didn't|no longer|only|must|never|always"
    r"|(?:that|this|it)(?: also| just| only)? means|(?:had|there (?:was|were)) no (?!changes?\b)\w+"
    r"|too (?:big|early|few|high|large|late|long|low|many|old|short|slow|small|strong|weak)"
    r"|not an? (?:\w+ )?(?:bug|fault|issue|problem)"
    r"|needed (?:an?|its|their|the|to)\b)\b|, so (?:it|we|you|i|the|that|they|this|there)\b"
    r"|\b(?:with|without|after) \S[^;:]{0,80}? (?:it|they) (?:now )?"
    r"(?:boots?|builds?|passes|reads?|runs?|starts?|works?)\b",
    re.IGNORECASE,
)
"""Words that give a reason or a limit, or that reject something."""

_CAUSE = re.compile(
    r"\b(?:because|root cause|caus(?:ed|es|ing)\b|the reason|due to|that's why|which is why"
    r"|the (?:real |actual |main )?(?:issue|problem|cause|bug) (?:is|was))\b",
    re.IGNORECASE,
)

_CHOICE = re.compile(
    r"\b(?:decided|chose|chosen|settled on)\b[^;!?]{0,160}?"
    r"\b(?:because|since|so that|otherwise|to avoid|instead of|rather than)\b",
    re.IGNORECASE,
)
"""A decision with its reason."""

_FIGURE = re.compile(
    r"(?<![\w.,])[+-]?\d[\d.,]*\s?(?:%|(?:ms|s|min(?:utes)?|h|[kmg]i?b|eur|usd|fps|req/s|points?)\b|[\u20ac$])|(?<![\w.,])0[.,]\d{2,}",
    re.IGNORECASE,
)
"""A measured figure. Two of them in one statement make a comparison."""

_STRONG = 3.0
"""The least worth (``facts.worth``) by which a statement is evidence without a reason."""

_BARE_COMMAND = re.compile(r"\s*/[\w:.-]+(?:\s+[\d.]+)?\s*")
_STEP = re.compile(
    r"\W*(?:(?:ok|okay|yes|yeah|yep|great|cool|now|then|so|and|please|lets|let's|can you|could you|alright|awesome"
    r"|perfect|nice|good|thanks)\b[\s,.!:]*)*+"
    r"(?:commit?|push|merge|pull|rebase"
    r"|(?:create|open|make|get) (?:an? |the |new ){0,2}(?:pr|pull request|branch|commit)|branch|checkout|check out"
    r"|switch|go ahead|continue|proceed|try again|retry|start|restart|stop|run|deploy|release|get back|move on|next)\b"
    r"(?! (?:always |now |still |often )?(?:are|breaks?|crash\w*|does|errors?|fail\w*|gives?|hangs?|is|isn't"
    r"|needs?|returns?|stops?|takes?|throws?|times?|was|won't)\b)",
    re.IGNORECASE,
)
_STEP_CHARACTERS = 200
"""The most characters of a prompt that only asks for a step. A longer prompt says what it is about."""

_STATE_ASKED = re.compile(
    r"\b(?:have we (?:\w+ ){0,2}?(?:complete|finish|done)|(?:is|are) (?:everything|it|this|that|they|all) (?:\w+ )?"
    r"(?:complete|done|finished|ready|running|working|up|green|passing)\b|what(?:'s| is) (?:next|left|the status)"
    r"|now what|where (?:are|were|did) we|how far|confirm (?:that )?we|prove (?:to me )?"
    r"|are you (?:confident|sure) (?:that )?we"
    r"|wie ist der (?:\w+ )?stand|sind wir fertig|was (?:kommt|fehlt) (?:als nächstes|noch)"
    r"|où en (?:est|sommes)|cómo va(?:mos)?|hoe staat het)|今の状況|進捗|どこまで|进度|状态如何",
    re.IGNORECASE,
)
_INQUIRY = re.compile(
    r"\b(?:search|find|look|check|see|show|tell|remind|explain|say|describe)\b[^.?!]{0,20}"
    r"\b(?:where|what|why|how|whether|if|which|who)\b",
    re.IGNORECASE,
)
"""A question in the form of a request."""

_QUESTION_WORD = re.compile(
    r"\W*(?:(?:and|but|so|ok|hey|hi)\b[\s,]*)*+(?:how|what|when|where|which|who|why)\b", re.IGNORECASE
)
_UNMARKED = re.compile(
    r"\W*(?:(?:and|but|so|ok|hey|hi)\b[\s,]*)*+(?:how (?:can|do|does|did|is|are|many|much|long|often|to)\b"
    r"|wh(?:at|ere|y|ich|o)"
    r"(?:'?s| (?:is|are|was|were|do|does|did|has|have|must|should))\b"
    r"|(?:should|shall|does|did|is|are|was|were) (?:we|i|it|they|this|that|there|our|the|any)\b|do (?:we|i|they)\b)",
    re.IGNORECASE,
)
"""The beginning of a question that may lack its mark: "how do i reset the db"."""
_ASKED_CHARACTERS = 400
"""The most characters of a prompt that says more after its question."""

_POINTING = re.compile(r"\b(?:here|now|next|going on|happening)\b", re.IGNORECASE)
"""Words of a question about the screen, if the question has no name."""

_REFUTED = re.compile(
    r"\b(?:still (?:see|seeing|get|getting|fail\w*|not|no|have|having|the same|doesn'?t|broken|happening|stuck"
    r"|error\w*|an?)|(?:did|does|do)(?:n'?t| not) (?:seem to )?(?:work|help|fix)\w*|same (?:issue|error|problem|thing)"
    r"|it(?:'s| is)? still (?!works?\b|good\b|fine\b|ok\b)\w+|not working|another (?:failure|error)|failed again"
    r"|no luck|(?:undo|revert) (?:that|this|it|what|those|these|the)"
    r"|(?:that'?s |this is |it'?s )?not what i (?:meant|asked|wanted|said))\b"
    r"|\A\W*(?:no+|nope|nein|wrong|stop|hey)\b[^.?\n]{0,20}\b(?:not like (?:that|this)|wrong|nicht so|that'?s not)\b"
    r"|\A\W*nicht so\b|\A\W*not like (?:that|this)\b",
    re.IGNORECASE,
)
_REFUTED_CHARACTERS = 300

_ASKED_BACK = re.compile(
    r"\b(?:(?:can|could|would) you (?:please )?|please )(?:confirm|open|check|try|share|paste|send|run|reload|refresh"
    r"|verify|test|click|log|restart|tell|provide|look)\b|\bwhat do you see\b|\b(?:tell|show) me (?:what|if|whether)\b",
    re.IGNORECASE,
)
"""A request to the person to look or to try. The matter is not settled then, unless the answer told the cause."""

_WANTS_TO_KNOW = re.compile(
    r"\b(?:share|paste|send|provide)\b|\bwhat (?:do|does|can) (?:you|it)\b|\b(?:tell|show) me\b(?! (?:if|whether)\b)",
    re.IGNORECASE,
)
"""Words of such a request that want more than a "yes": the cause is not known yet."""

_FEW = 3
"""The most statements of an answer that is nothing but the cause. There enough words can replace a name."""

_FIRST_STATEMENTS = 4
"""How many first statements of an answer are searched for a cause without words such as "because"."""

_LONG = 12
"""How many statements make an answer long. In a long one the share of evidence counts, not only its presence."""

_LEAST_SHARE_OF_STEP, _LEAST_SHARE = 0.2, 0.1
_LEAST_WORTH, _LEAST_WORTH_OF_ANSWER = 1.0, 1.5
"""The least worth of all statements together, without a reason, of a change or an unasked summary; and of an answer."""

_CHANGES_OF_STEP = 6.0
"""The least worth of all statements together by which a step that changed files counts as work."""

_SETTLING, _LAST_BLOCKS = 2, 3
"""An answer with fewer reasons than this is not kept if its last blocks (so many) ask the person to try something."""


class TurnAim(Enum):
    """The kind of thing that a turn's prompts want."""

    NOTHING = "nothing"
    """No person typed anything: the agent answers a message of its own tools."""
    COMMAND = "command"
    STEP = "step"
    STATE = "state"
    ANSWER = "answer"
    WORK = "work"


_NEED_MUCH = frozenset({TurnAim.COMMAND, TurnAim.STEP, TurnAim.STATE})


@attrs.frozen
class AnswerEvidence:
    """How much of a text lasts, counted in statements."""

    told: int = 0
    """Statements that do more than say how things stand."""
    reasons: int = 0
    causes: int = 0
    """Statements with a cause, or with a decision and its reason."""
    strong: int = 0
    worth: float = 0.0
    measured: int = 0
    """Statements that compare figures."""

    @classmethod
    def of(cls, statements: Iterable[str]) -> AnswerEvidence:
        """The evidence in ``statements``, without those that only say how things stand."""
        told = [each for each in statements if not tells_how_things_stand(each)]
        worths = [worth(each) for each in told]
        reasons = sum(_REASON.search(each) is not None for each in told)
        causes = sum(any(pattern.search(each) for pattern in (_CAUSE, _CHOICE)) for each in told)
        measured = sum(len(_FIGURE.findall(each)) > 1 for each in told)
        return cls(len(told), reasons, causes, sum(each >= _STRONG for each in worths), sum(worths), measured)

    def share(self) -> float:
        """The share of evidence in the statements. A reason counts as much as two strong statements."""
        return (2 * self.reasons + self.strong) / self.told if self.told else 0.0


def lasts(turn: Turn, blocks: Sequence[Block], *, has_changed: bool, is_decided: bool) -> bool:
    """Whether the answer is worth a memory; ``blocks`` are its blocks without chatter.

    Args:
      has_changed: the turn changed a file.
      is_decided: a person laid something down in the turn, or answered a tool that asked.
    """
    said = list(_said_in(blocks))
    evidence, wanted = AnswerEvidence.of(said), wanted_by(turn)
    if turn.answer and turn.answer.role == "note":
        return True
    if not is_english(said):  # an answer that cannot be judged is kept, except one to a nod
        is_idle = wanted is TurnAim.STATE or (_is_nod(turn) and evidence.worth < _LEAST_WORTH)
        return has_changed or is_decided or not is_idle
    if is_decided and (evidence.reasons or evidence.worth):
        return True
    if wanted is TurnAim.NOTHING:
        return evidence.reasons > 0 or evidence.worth >= _LEAST_WORTH
    if wanted in _NEED_MUCH and not (has_changed and evidence.worth >= _CHANGES_OF_STEP):
        has_failed = any(tool.has_failed for tool in turn.tools)
        is_told_why = wanted is TurnAim.STATE and not asks_in_passing(turn.prompts[-1].text)
        is_cure = (has_failed or is_told_why) and evidence.causes > 0 and evidence.told < _LONG
        return is_cure or (evidence.reasons > 1 and evidence.reasons >= _LEAST_SHARE_OF_STEP * evidence.told)
    return _tells_enough(turn, blocks, evidence, has_changed=has_changed, is_asked=wanted is TurnAim.ANSWER)


def _tells_enough(
    turn: Turn, blocks: Sequence[Block], evidence: AnswerEvidence, *, has_changed: bool, is_asked: bool
) -> bool:
    """Whether the answer to a question, or to work that a person wanted, has enough evidence."""
    if evidence.reasons < _SETTLING and _is_open(turn, blocks, has_changed=has_changed):
        return False
    is_reasoned = has_changed and (evidence.causes > 0 or gives_reasons(turn))
    if tells_cause(turn, blocks) or is_reasoned or evidence.measured:
        return True
    if choice_in(turn.question):
        return evidence.reasons > 0 or evidence.worth >= _LEAST_WORTH
    if evidence.told >= _LONG and evidence.share() < _LEAST_SHARE:
        return False
    if has_changed or is_asked:
        return evidence.reasons > 0 or evidence.worth >= (_LEAST_WORTH if has_changed else _LEAST_WORTH_OF_ANSWER)
    return evidence.causes > 0 or evidence.reasons > 1 or (evidence.strong > 1 and evidence.reasons > 0)


def _is_open(turn: Turn, blocks: Sequence[Block], *, has_changed: bool) -> bool:
    """Whether the answer asks the person to look or to try, before anything plain is told about the matter."""
    asked = [block.text for block in blocks[-_LAST_BLOCKS:] if _ASKED_BACK.search(block.text)]
    if not asked:
        return False
    said = list(_said_in(blocks))[:_FIRST_STATEMENTS]
    explains = has_changed and any(map(says_how_things_are, said)) and not is_guess(said[0])
    return any(map(_WANTS_TO_KNOW.search, asked)) or not (explains or tells_cause(turn, blocks))


def tells_cause(turn: Turn, blocks: Sequence[Block]) -> bool:
    """Whether a person asked why or reported a fault, and the answer plainly says how things are."""
    said = list(_said_in(blocks))
    is_why = asks_why(turn)
    if not (is_why or is_about_fault(turn)) or not 0 < len(said) < _LONG:
        return False
    if is_guess(said[0]) or any(map(asks, said[-_LAST_BLOCKS:])):
        return False
    return any(says_how_things_are(each, plainly=is_why or len(said) <= _FEW) for each in said[:_FIRST_STATEMENTS])


def _is_nod(turn: Turn) -> bool:
    """Whether the turn's prompts only agree, thank or urge on, in any known language."""
    return bool(turn.prompts) and all(asks_nothing(said.text) for said in turn.prompts)


def _said_in(blocks: Sequence[Block]) -> Iterator[str]:
    """The sentences and list items of ``blocks``, and lines of code that stand alone."""
    for block in blocks:
        if block.kind is BlockKind.TEXT:
            yield from sentences(block.text)
        elif block.kind is not BlockKind.HEADING:
            yield block.text


def gives_reasons(turn: Turn) -> bool:
    """Whether a person's request gives a reason or a limit."""
    said = (sentence for prompt in turn.prompts if not prompt.is_context for sentence in sentences(prompt.text))
    return any(_REASON.search(sentence) and not sentence.endswith("?") for sentence in said)


def wanted_by(turn: Turn) -> TurnAim:
    """The kind of thing that the prompts of ``turn`` want, by their form."""
    if not turn.prompts:
        return TurnAim.NOTHING
    if all(_BARE_COMMAND.fullmatch(said.text) for said in turn.prompts):
        return TurnAim.COMMAND
    last = turn.prompts[-1].text
    if not own_words(last) and asks(last) and _POINTING.search(last):
        return TurnAim.STATE
    if len(turn.question) <= _STEP_CHARACTERS:
        answer = turn.answer.text[:_STEP_CHARACTERS] if turn.answer else ""
        if asks_in_passing(last) or _STATE_ASKED.search(last) or asks_for_the_moment(last, answer):
            return TurnAim.STATE
        if is_commit_request(last) or (own_words(last) and _STEP.match(last)):
            return TurnAim.STEP
    is_question = asks(last) or _UNMARKED.match(last) or asks_by_form(last) or _INQUIRY.search(last)
    return TurnAim.ANSWER if is_question or _asks_before_the_end(last) else TurnAim.WORK


def _asks_before_the_end(prompt: str) -> bool:
    """Whether ``prompt`` asks a question and then says more ("Why are they empty? It worked yesterday")."""
    return len(prompt) <= _ASKED_CHARACTERS and any(
        asks(sentence) and _QUESTION_WORD.match(sentence) for sentence in sentences(prompt)
    )


def refuted(turns: Iterable[Turn]) -> frozenset[int]:
    """The numbers of the answers that did not help, as the next prompt of the session says."""
    return frozenset(
        turn.previous.answer.number
        for turn in turns
        if turn.previous and turn.previous.answer and _REFUTED.search(turn.question[:_REFUTED_CHARACTERS])
    )

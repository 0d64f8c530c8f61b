"""Observations of coding sessions, and questions about them whose answers are known. Imported by other benchmarks.

Every observation is about one topic and one component of a project. It has the topic's sentence, then text of this
Python's library, since real reports are longer than what people ask for. The seed decides all of it. The largest
project also has PLANTED records without a topic, at its beginning, in its middle and at its end, to test whether a
paraphrase finds old records.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

from benchmarks.learning import documents

SEED = 20261123
SHARES = {"shop": 50, "ledger": 15, "atlas": 10, "radio": 8, "garden": 6, "harbor": 5, "museum": 4, "weather": 2}
"""Projects, with their shares of the observations in percent; the largest one is searched beyond its newest 2,000."""
LARGEST = "shop"
CHARACTERS = 900
"""The length of each content."""
TYPES = ("file-write", "file-read", "command", "research", "bugfix", "refactoring")
VERBS = ("Fixed", "Reviewed", "Measured", "Rewrote", "Tested", "Discussed")
COMPONENTS = (
    "billing", "checkout", "catalog", "inventory", "shipping", "accounts", "reports", "uploads", "gateway", "mailer",
    "scheduler", "exporter", "importer", "dashboard", "webhooks", "notifications", "payments", "sessions", "archive",
    "translations",
)  # fmt: skip


@attrs.frozen
class Topic:
    """A topic: something that happens in a component, and the ways in which people ask for it."""

    phrase: str
    """Words that the title of each observation has."""
    words: tuple[str, str, str]
    """Words that its text has."""
    sentence: str
    question: str
    """A question with some words of the observation; ``{}`` is the component."""
    paraphrase: str
    """A question in other words."""


TOPICS = (
    Topic("connection pool", ("connections", "transaction", "exhausted"),
          "The pool of connections was exhausted because a transaction stayed open after an exception.",
          "Why did the {} run out of database connections?", "database handles used up since work was never committed"),
    Topic("token expiry", ("token", "refresh", "expired"),
          "A token that had expired was not renewed, since the refresh ran after the first request.",
          "What happens in {} when a login token expires?", "people are signed out although they were active"),
    Topic("cache invalidation", ("cache", "stale", "entries"),
          "The cache kept stale entries, because writes of the second worker did not clear them.",
          "How does the {} get rid of stale cache entries?", "old values are shown after an update"),
    Topic("rate limit", ("limit", "requests", "burst"),
          "The limit counts requests a minute and refuses a burst, with the header Retry-After.",
          "How many requests may a client send to the {}?", "throttling of callers that send too much at once"),
    Topic("schema migration", ("migration", "column", "nullable"),
          "The migration adds a nullable column first and fills it later, so that no lock is held for long.",
          "How is a new column added to the {} tables?", "changing the layout of a table without downtime"),
    Topic("memory leak", ("memory", "listener", "heap"),
          "The heap grew by 2 MB an hour, because each listener held on to its memory after it was removed.",
          "Why does the {} use more and more memory?", "the process grows until it is killed"),
    Topic("race condition", ("lock", "concurrent", "twice"),
          "Two concurrent workers took the same job twice; a row lock now lets one of them wait.",
          "Why was the same job of the {} carried out twice?", "two threads interfere with each other"),
    Topic("image resizing", ("image", "thumbnail", "pixels"),
          "Each image becomes a thumbnail of 320 pixels, in a queue of its own, so that uploads answer at once.",
          "Where does the {} make the small pictures?", "shrinking photos in the background"),
    Topic("retry policy", ("retry", "backoff", "timeout"),
          "A timeout leads to a retry with exponential backoff, at most five times, with jitter.",
          "How often does the {} try again after a timeout?", "repeating failed calls with growing pauses"),
    Topic("search index", ("index", "tokens", "ranking"),
          "The index splits names into tokens, and the ranking prefers matches of the title.",
          "How does the {} decide which match comes first?", "ordering of the found documents"),
    Topic("time zone", ("timezone", "midnight", "offset"),
          "Days were cut at midnight UTC instead of the timezone of the customer, an offset of up to 14 hours.",
          "Why do daily figures of the {} end at the wrong hour?", "dates differ for clients abroad"),
    Topic("config reload", ("configuration", "signal", "restart"),
          "A signal makes the process read its configuration again, without a restart.",
          "Can the {} read its settings again while it runs?", "applying changed options to a live daemon"),
    Topic("password hashing", ("password", "argon2", "salt"),
          "A password is stored as argon2 with a salt of 16 bytes; older ones are changed at the next login.",
          "How does the {} store the passwords of users?", "protecting credentials at rest"),
    Topic("csv export", ("csv", "encoding", "rows"),
          "The csv holds all rows in one encoding, UTF-8 with a mark, since spreadsheets guess otherwise.",
          "Which encoding do the {} spreadsheet files have?", "downloaded tables show strange letters"),
    Topic("deployment rollback", ("rollback", "release", "traffic"),
          "A rollback moves the traffic to the release before, within a minute, and keeps the database.",
          "How do we undo a bad release of the {}?", "going back to the previous version"),
    Topic("dependency upgrade", ("upgrade", "deprecated", "pinned"),
          "The upgrade removed a deprecated call; two packages stay pinned until their authors follow.",
          "Which packages of the {} are held back?", "newer libraries broke what we call"),
)  # fmt: skip

PLANTED = (
    ("The car needs petrol before the journey", "vehicle has to be refuelled ahead of a trip"),
    ("Our dog barked at the postman all morning", "pet makes noise when letters are delivered"),
    ("She bought bread and cheese at the bakery", "purchase of food in a shop"),
    ("The violin concert was sold out in Vienna", "no tickets left for a classical music event"),
    ("Heavy rain flooded the cellar last night", "water damage in the basement after a storm"),
    ("The doctor prescribed pills for his headache", "medicine against pain"),
    ("Children built a snowman in the park", "kids playing outside in winter"),
    ("The football team lost the final match", "defeat in the last game of the tournament"),
    ("Tomatoes grow well in a sunny greenhouse", "cultivating vegetables with warmth and light"),
    ("The flight to Lisbon was delayed by fog", "plane late because of bad visibility"),
    ("He painted the kitchen walls yellow", "new colour for the room where we cook"),
    ("The bank raised interest on mortgages", "home loans become more expensive"),
)
"""Sentences about things that no topic is about, each with a paraphrase that shares no content word with it."""
PLACES = ("oldest", "middle", "newest")
TELLERS = {"oldest": "Anna", "middle": "Bruno", "newest": "Clara"}


@attrs.frozen(kw_only=True)
class Sample:
    """One observation, and the topic that it is about."""

    topic: str = ""
    """A topic's phrase; empty for planted records."""
    project: str
    type: str
    title: str
    content: str
    concepts: tuple[str, ...]
    files: tuple[str, ...] = ()

    @property
    def body(self) -> dict[str, Any]:
        """The body that is posted, the same for all systems: each reads the keys that it knows, and ignores others."""
        return {
            "project": self.project,
            "type": self.type,
            "title": self.title,
            "content": self.content,
            "concepts": self.concepts,
            "files": self.files,
            "files_modified": self.files,
        }


@attrs.frozen
class Question:
    """A query to one project, and the topic that its results should have."""

    shape: str
    text: str
    project: str
    topic: str


def observations(count: int) -> list[Sample]:
    """The observations in the order of posting, with different titles. ``count`` is at least 100, for PLANTED."""
    dice = random.Random(SEED)
    projects = dice.choices(list(SHARES), list(SHARES.values()), k=count)
    planted = _planted_at([place for place, project in enumerate(projects) if project == LARGEST])
    texts = documents()
    return [
        planted[number] if number in planted else _sample(number, project, dice, texts)
        for number, project in enumerate(projects)
    ]


def _planted_at(places: list[int]) -> dict[int, Sample]:
    """The PLANTED records, at the first, the middle and the last of ``places``."""
    count = len(PLANTED)
    first = {"oldest": 0, "middle": (len(places) - count) // 2, "newest": len(places) - count}
    return {
        places[first[where] + number]: _plant(number, where) for where in PLACES for number in range(count)
    }  # fmt: skip


def planted_title(number: int, where: str) -> str:
    return f"{TELLERS[where]}: {PLANTED[number][0]}"


def _plant(number: int, where: str) -> Sample:
    return Sample(
        project=LARGEST,
        type="research",
        title=planted_title(number, where),
        content=f"{PLANTED[number][0]}.",
        concepts=("diary",),
    )


def _sample(number: int, project: str, dice: random.Random, texts: Sequence[str]) -> Sample:
    topic, component = dice.choice(TOPICS), dice.choice(COMPONENTS)
    title = f"{dice.choice(VERBS)} {topic.phrase} of {component} (#{number})"
    content = f"{topic.sentence} Seen in {component}."
    while len(content) < CHARACTERS:
        content += "\n" + dice.choice(texts)
    return Sample(
        topic=topic.phrase,
        project=project,
        type=dice.choice(TYPES),
        title=title,
        content=content[:CHARACTERS],
        concepts=(component, topic.words[0]),
        files=(f"src/{component}/{topic.phrase.replace(' ', '_')}_{number % 50}.py",),
    )


def questions(count: int, *, seed: int) -> list[Question]:
    """As many questions of each shape, by shape. A project is asked in proportion to its observations."""
    dice = random.Random(seed)
    return list(_questions(count, dice))


def _questions(count: int, dice: random.Random) -> Iterator[Question]:
    for number in range(count):
        shape = list(SHAPES)[number % len(SHAPES)]
        topic, component = dice.choice(TOPICS), dice.choice(COMPONENTS)
        (project,) = dice.choices(list(SHARES), list(SHARES.values()))
        yield Question(shape, SHAPES[shape](topic, component, dice), project, topic.phrase)


def misspelt(text: str, dice: random.Random) -> str:
    """``text`` with two letters swapped within each word of five letters or more."""

    def swapped(word: str) -> str:
        at = dice.randrange(1, len(word) - 2) if len(word) >= 5 else 0
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :] if at else word

    return " ".join(swapped(word) for word in text.split())


def _paraphrased(topic: Topic, component: str, dice: random.Random) -> str:
    return dice.choice((topic.paraphrase, misspelt(f"{topic.phrase} {component}", dice)))


SHAPES: dict[str, Callable[[Topic, str, random.Random], str]] = {
    "word": lambda topic, _, dice: dice.choice(topic.words),
    "words": lambda topic, component, dice: f"{component} {' '.join(dice.sample(topic.words, 2))}",
    "phrase": lambda topic, component, _: f'"{topic.phrase} of {component}"',
    "OR": lambda topic, _, dice: f"{dice.choice(topic.words)} OR {dice.choice(dice.choice(TOPICS).words)}",
    "AND": lambda topic, component, dice: f"{component} AND {dice.choice(topic.words)}",
    "NOT": lambda topic, component, dice: f"{dice.choice(topic.words)} NOT {component}",
    "column": lambda topic, _, dice: f"{dice.choice(('title', 'text'))}:{dice.choice(topic.phrase.split())}",
    "prefix": lambda topic, _, dice: f"{dice.choice(topic.words)[:4]}*",
    "question": lambda topic, component, _: topic.question.format(component),
    "paraphrase": _paraphrased,
}
"""How a question of each shape is written for a topic and a component."""

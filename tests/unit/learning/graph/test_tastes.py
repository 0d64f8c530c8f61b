from __future__ import annotations

import pytest

from kiro_learn.learning.graph.own_words import PERSON
from kiro_learn.learning.graph.statements import statements_in

LIKED = [
    ("I love Neovim!", "Neovim"),
    ("I really like pottery.", "pottery"),
    ("I love live music", "live music"),
    ("I also enjoy aerial yoga, it's a good way to rest", "aerial yoga"),
    ("Yeah, I love creating art!", "creating art"),
    ("I love walks with my dog, 'cause it gets me out", "walks with my dog"),
    ("I enjoy listening to podcasts", "listening to podcasts"),
    ("I love helping the community and making it better", "helping the community"),
    ("I'm a big fan of jazz - the rhythm and sound are great", "jazz"),
    ("I love jazz because the rhythm and sound are great", "jazz"),
    ("I'm passionate about teaching and it brings me joy", "teaching"),
    ("I've been into dancing since I was a kid", "dancing"),
    ("I've always been passionate about veterans and their rights.", "veterans"),
    ("I've always loved horses!", "horses"),
    ("I love chess so much", "chess"),
    ("I do love small pull requests", "small pull requests"),
    ("I like Jira now", "Jira"),
    ("I love Paris", "Paris"),
    ("I love trying out new recipes", "trying out new recipes"),
    ("I personally love nature \U0001f333", "nature"),
    ("I love being a mom", "being a mom"),
    ("I love dogs, they're great", "dogs"),
    ("Dance is my passion, and I keep working hard", "dance"),
    ("Dance is my passion, and I'm going to make it my work", "dance"),
    ("I love chess - I want to play it more", "chess"),
    ("I've always had a love for horses!", "horses"),
    ("I have a passion for old maps", "old maps"),
    ("Painting is my favorite!", "painting"),
    ("My favourite editor is Neovim.", "Neovim"),
    ("My favorite food is sushi", "sushi"),
    ("My hobby is woodworking.", "woodworking"),
]

DISLIKED = [
    ("I hate flaky tests.", "flaky tests"),
    ("I can't stand YAML.", "YAML"),
    ("I cannot stand meetings", "meetings"),
    ("I don't really like waiting", "waiting"),
    ("I'm not a fan of ORMs", "ORMs"),
    ("I don't enjoy public speaking", "public speaking"),
    ("I hate writing documentation", "writing documentation"),
]


@pytest.mark.parametrize(("sentence", "expected"), LIKED)
def test_what_a_person_likes_is_a_fact(sentence: str, expected: str) -> None:
    found = [(each.subject, each.predicate, each.object) for each in statements_in(sentence)]
    assert found == [(PERSON, "likes", expected)]


@pytest.mark.parametrize(("sentence", "expected"), DISLIKED)
def test_what_a_person_dislikes_is_a_fact(sentence: str, expected: str) -> None:
    found = [(each.subject, each.predicate, each.object) for each in statements_in(sentence)]
    assert found == [(PERSON, "dislikes", expected)]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I love dogs and cats.", ["dogs", "cats"]),
        ("I like hiking and swimming", ["hiking", "swimming"]),
        ("I'm passionate about dance and fashion so this suits me", ["dance", "fashion"]),
        ("I love being outdoors and playing games", ["being outdoors", "playing games"]),
        ("I love improving education and infrastructure", ["improving education"]),
        ("I love music and play guitar", []),
        ("I love action and adventure movies", []),
        ("I love hiking and go every week", ["hiking"]),
    ],
)
def test_several_are_told_apart(sentence: str, expected: list[str]) -> None:
    assert [each.object for each in statements_in(sentence)] == expected


@pytest.mark.parametrize(
    ("sentence", "predicate", "is_past"),
    [("I used to love coffee", "likes", True), ("I no longer like coffee", "likes", False)],
)
def test_what_was_liked_is_not_liked_now(sentence: str, predicate: str, is_past: bool) -> None:
    (found,) = statements_in(sentence)
    assert (found.predicate, found.object, found.is_past, found.is_denied) == (
        predicate,
        "coffee",
        is_past,
        not is_past,
    )


NOTHING = """
I love it!
I love you
I love that you chose pottery
I love how art lets us speak
I love the theme
I love all the yellow leaves
I love your idea
I love this
I love these days out
I love Ann's drawing
I like option B
I like approach 2
I like plan A more
I like the second one
I like keeping the old flag
I like where we go with that
I love seeing you happy
I love being here
I love having such a great time
I love working with them
I love games that are hard
I love creating a safe, warm place
I love long, quiet walks
I'm passionate about making sure veterans are heard
I'd love a break
I'd love to paint
I like to just look at the sunset
I would love pottery
I loved pottery
I'm loving this
We love painting
You love chess
That is my favorite
The beach is my favorite place
My favorite part is the end
My favorite part is seeing everyone
Do I love chess?
Maybe I love chess
I love chess lately?
I hate to say it
I'm into it
She said I love chess
I enjoy myself
I hate being so far away
I love working as a team
I love feeling like a child
I love things like that
I've enjoyed working with children
I've loved every minute
My favorite spot is near the lake
My favorite food is definitely pizza
I'm into week three
I used to love chess, and still do
I love chess, he said
I love chess, if I could only play
I want to say, I love chess
I love chess when I have time
""".strip().splitlines()


@pytest.mark.parametrize("sentence", NOTHING)
def test_what_only_points_or_is_of_the_moment_is_no_taste(sentence: str) -> None:
    assert statements_in(sentence) == []

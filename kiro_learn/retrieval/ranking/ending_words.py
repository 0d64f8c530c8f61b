"""The words by which a sentence says that a thing ends, stays, or may do either, and the words around a name."""

from __future__ import annotations

from kiro_learn.model.wording import word_set

MARKS = frozenset(",:()-\u2013\u2014")
BEFORE_A_NAME = word_set("""
    the a an our all any its this that these those my your their both old legacy former previous whole entire current
    existing own rest last also just only now completely entirely finally really please more of der die das den dem
    unser unsere alte alten
""")
SUPPORT = word_set("support use usage using dependency everything traces remains rest")
"""Words that stand for the thing itself: "support for PayPal"."""
GENERIC = word_set("""
    plugin plugins library package packages service services server servers broker brokers dependency dependencies
    account cluster setup stack framework tool backend integration container containers instance
    instances module app application altogether
""")
"""Words next to the name of a thing. With them the thing still ends as a whole."""
STOPS = word_set("""
    and or but so because since as that which who where when while then than if although though with by to for from in
    into on onto at of off out up down over under after before until via per through between against without within
    beside besides next instead rather due thanks now again already anymore longer altogether here there everywhere
    is are was were be been being has have had does do did will would can could may might must should shall got gets
    get goes went go it we they i you he she not never no und oder aber weil mit durch f\u00fcr von in im auf aus zu
    ist sind war wird wurde wurden jetzt y e et con por per avec pour par
""")
BE = word_set("is are was were be been being got gets get 's 're has have")
HAVING = word_set("have has had")
ENDED_STATES = word_set("""
    gone dead out history removed dropped replaced deprecated obsolete cancelled canceled abandoned superseded retired
    ended deleted uninstalled discontinued decommissioned ersetzt entfernt abgeschafft verworfen
""")
ENDING_VERBS = word_set("""
    drop drops dropped dropping remove removes removed removing deprecate deprecated deprecating cancel cancelled
    canceled abandon abandons abandoned abandoning retire retires retired retiring delete deleted deleting uninstall
    uninstalled ditch ditched ditching scrap scrapped scrapping replace replaces replaced replacing supersede
    left quit swap swaps swapped swapping
    supersedes superseded
""")
ADJECTIVES = word_set("abandoned cancelled canceled deleted deprecated removed replaced retired superseded uninstalled")
"""Those of these words that may stand before a noun: "the abandoned session"."""
STATES_OF_WORK = word_set("abandoned cancelled canceled deprecated retired superseded")
DETERMINERS = word_set("the a an our any its this that these those my your their")
MOVING = word_set("""
    move moves moved moving switch switches switched switching migrate migrates migrated migrating port ported porting
    change changes changed changing convert converted converting went go going
""")
USING = word_set("use using uses need needs want run running have like with on store put touch be")
UNSURE = word_set("""
    could would might may maybe perhaps if whether consider considers considered considering discuss discussed
    wonder wondering propose proposed evaluate evaluated evaluating looked looking thought thinking why unless until
    before when once i'd we'd you'd tried nobody
""")
STAYING = word_set("stay stays stayed staying stick sticks sticking keep keeps kept keeping remain remains remained")
BEHIND_A_NAME = STOPS | MARKS | DETERMINERS | word_set("all")
PLACES = word_set("""
    file files compose code codebase repo repository project package config configuration stack tree everywhere docker
    favor favour good
""")
TOO = word_set("slow expensive big heavy large complex costly old unstable unreliable flaky")
OF_FOREIGN = word_set("statt anstatt anstelle \u0432\u043c\u0435\u0441\u0442\u043e zamiast")
_PHRASES = """
    instead of | rather than | in place of | rid of | decided against | away from | moved off | move off | moving off |
    switched off | migrated off | took the place of | takes the place of | took over from | done with | ripped out |
    ripping out | threw out | phased out | stop using | stopped using | no longer | no more | nicht mehr | au lieu de |
    en lugar de | invece di | больше не
"""
_SPLIT = [tuple(phrase.split()) for phrase in _PHRASES.split("|")]
PHRASES = {first: [phrase for phrase in _SPLIT if phrase[0] == first] for first, *_ in _SPLIT}
"""Phrases before a thing that ended, by their first word."""
_GONE_PAIRS = """
    didn't work | made way | makes way | gave way | went away | goes away | must go | to go | swapped for | swapped out
"""
GONE_PAIRS = tuple(tuple(pair.split()) for pair in _GONE_PAIRS.split("|"))
"""Pairs of words after a thing that ended, without a form of "to be"."""
ENDED_PAIRS = (("shut", "down"), ("switched", "off"), ("turned", "off"), ("taken", "out"), ("ripped", "out"))
NO_LONGER = (("no", "longer"), ("no", "more"), ("not", "longer"))
NEEDED = word_set("used needed supported maintained available allowed there in part required valid wanted our the")
ANY_MORE = frozenset({("any", "more"), ("any", "longer")})
AFTER_ALL = ["after", "all"]
ADVERBS = word_set("now all also just finally completely entirely already really therefore long simply")
MODALS = word_set("will to going must can could should may might would not never has had have")
DOUBTFUL = word_set("can could should may might would not never")
LINKING = BE | ADVERBS | MODALS
PAST = word_set("was were got became been proved")
CONDITIONS = word_set("if unless whether")
FOR_ANOTHER = frozenset({"drop", "ditc", "aban", "scra", "repl"})
"""Beginnings of verbs after which "for" names the replacement."""
SCOPING = word_set("from in for at on")
PREPOSITIONS = word_set("in on to by with at from for of into onto via using")
JOINING = word_set("and or but so since because as that which while then though although after now")
REMAINING = word_set("stay stays stayed remain remains remained")
COMMON = word_set(
    "use uses used using new now always never set add added run runs make made get keep keeps kept here one two three"
)
VERBS = BE | word_set("""
    use uses used go goes went run runs ran live lives come comes write writes count counts read reads keep keeps kept
    store stores stored call calls carry carries
""")
SIDE_PLACES = word_set(
    "test tests ci dev development staging local locally demo demos example examples benchmark benchmarks"
)
"""Places outside the product. What is used there says nothing about what the project uses."""
PERSONS = word_set("we i they you people teams")
ON_NOW = word_set("we're we are i'm they're")
"""Words before "on" or "use" and the name of a thing that is used now."""
TIMES = word_set("""
    yesterday today week month year day morning evening night monday tuesday wednesday thursday friday saturday sunday
    january february march april may june july august september october november december please
""")
RETURNS = (("back", "to"), ("return", "to"), ("returned", "to"), ("revert", "to"), ("reverted", "to"))

_BEGINNINGS = frozenset(pair[0] for pair in (*GONE_PAIRS, *ENDED_PAIRS, *NO_LONGER, *RETURNS))
SIGNALS = (
    ENDING_VERBS
    | ENDED_STATES
    | MOVING
    | OF_FOREIGN
    | STAYING
    | _BEGINNINGS
    | PHRASES.keys()
    | word_set("it on replaced take too use using")
)
"""Words, besides negations, at which a thing may end, stay or be taken up. Other words are skipped."""

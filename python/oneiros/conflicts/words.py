"""Words that statements of facts are read by. Source: docs/systems/house.md H12."""

from __future__ import annotations

from typing import Final

__all__ = [
    "ADDITIONS",
    "AMOUNTS",
    "ARTICLES",
    "CUES",
    "CUE_WORDS",
    "DATES",
    "DENIALS",
    "HEADINGS",
    "LABELS",
    "NUMBERS",
    "PARTICLES",
    "PAST",
    "PREPOSITIONS",
    "RELATIVES",
    "STATES",
    "STOP_WORDS",
    "TOPICS",
]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


STOP_WORDS: Final = _set("""
a an the and or but so then than as of in on at by for with from to into onto up down out off over
about around after before since until till during between through per via is are was were be been
being am do does did done have has had having will would can could should shall may might must i me
my mine myself we us our ours you your yours he him his she her hers it its they them their this
that these those there here what which who whom whose when where why how not no nor none very really
quite just only also too both either all any each every some much many more most other another such
own same ve re ll don doesn isn wasn aren won im get got gets getting go goes went going come comes
came make makes made take takes took put let say says said tell ask asked think thought know
knew one thing things way lot bit well good great nice yes ok okay oh hey hi thanks please today
yesterday tomorrow day days week weeks month months year years time times last next first ever never
always still again back while because if like
""")
"""Words that say nothing of what a statement is about."""

CUE_WORDS: Final = _set("""
now nowadays anymore longer instead currently changed change changes switched switch switching moved
move moving moves replaced replace replaces replacing renamed new latest updated update quit stopped
stop dropped drop left sold ditched gave retired cancelled canceled rescheduled postponed pushed
extended upgraded upgrade rolled reversed reversal mind rather formerly started start begin began
joined took handed traded became raised decided
""")
"""Words of change. They are no content: that two texts both name a change connects nothing."""

CUES: Final[tuple[tuple[float, tuple[str, ...]], ...]] = (
    (2.0, ("no longer", "any more", "anymore")),
    (2.0, ("from now on", "as of", "these days", "nowadays", "at the moment", "from today")),
    (2.0, ("instead", "rather than", "in place of")),
    (
        2.0,
        (
            *("switched", "changed", "moved", "replaced", "renamed", "upgraded", "rescheduled"),
            *("postponed", "pushed", "reversed", "swapped", "converted", "transferred"),
            *("relocated", "updated", "migrated"),
        ),
    ),
    (
        2.0,
        (
            *("quit", "stopped", "dropped", "sold", "ditched", "retired", "cancelled", "canceled"),
            *("broke up", "gave up", "left", "resigned", "gone off", "traded", "took over"),
            *("takes over", "taking over", "handed", "abandoned", "ended", "finished with"),
        ),
    ),
    (
        1.0,
        (
            *("it is over", "is over", "settled", "after all", "no more", "goodbye"),
            *("extension", "brought forward", "back to"),
        ),
    ),
    (2.0, ("now", "currently")),
    (2.0, ("new",)),
    (
        1.0,
        (
            *("started", "joined", "became", "picked up", "signed", "enrolled", "hired"),
            *("begins", "decided", "booked", "installed", "bought", "got"),
        ),
    ),
)
"""Groups of phrases that announce a change, each with its strength; a group counts once."""

ADDITIONS: Final = (
    *("also", "too", "as well", "another", "in addition", "additionally", "besides"),
)
"""Phrases that add to what was so, and leave it."""

PAST: Final = (
    *("used to", "back then", "as a student", "as a child", "as a kid", "grew up", "years ago"),
    *("last year", "at school", "once", "when i was", "previously", "in the past"),
)
"""Phrases of what was long ago."""

RELATIVES: Final = _set("""
mother father mom mum dad sister brother cousin aunt uncle grandmother grandfather grandma grandpa
son daughter friend boss neighbour neighbor neighbours neighbors colleague colleagues wife husband
flatmate roommate ex nephew niece
""")
"""People whose facts a text states, not its author's."""

DENIALS: Final = _set("not no never none t hate hates dislike dislikes stopped quit cannot")
"""Words that deny; ``t`` is the end of "can't" and the like."""

NUMBERS: Final = _set("""
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand
""")
DATES: Final = _set("""
monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays
fridays saturdays sundays january february march april june july august september october november
december
""")

STATES: Final = _set("is are lives live works work costs cost weighs weigh equals")
"""Verbs after which a thing has one value at a time, so that a later one replaces it."""

AMOUNTS: Final = _set("""
has have uses use takes take needs need pays pay earns earn owes owe requires require supports
support allows allow holds hold
""")
"""Verbs after which only a number does so: who has a dog may have a cat, too."""

ARTICLES: Final = _set("a an the")

PARTICLES: Final = _set("al bin da de del der di du la le van von y")
"""Words of names that have no capital."""

LABELS: Final = _set("""
address age allergies allergy birthday budget bus city colour color company country currency
deadline department diet dose email employer gender hair height home job language location manager
mobile name nationality nickname occupation office password phone pin plan price profession
profile rent role room salary size status team timezone username version website weight
""")
"""Words that alone are a label ("Phone: "), as they are no names."""

HEADINGS: Final = _set("""
bug decision do done entry fact finding idea insight issue item items journal lesson list lists
log logs news note notes observation preference preferences problem quote reminder report request
self summary task tasks thing things todo way
""")
"""Last words of what heads one note of many ("Shopping list: ", "To do: "), and names no fact."""

PREPOSITIONS: Final = _set("at by for from in near on under with")
"""Words after a verb that say which of its values follows: who works in Oslo works at a company, too."""

TOPICS: Final[tuple[str, ...]] = (
    # work
    """work works working worked job employer employed employee company position career profession
    office hired hire contract boss salary colleagues firm role joined promoted promotion started
    signed resigned fired quit internship""",
    # home
    """live lives living lived home house flat apartment address moved move moving city town place
    relocated settled rent neighbourhood neighborhood resident based landlord lease mortgage""",
    # partner
    """partner dating girlfriend boyfriend wife husband married engaged couple together relationship
    seeing spouse fiance divorced single broke""",
    # food
    """diet eat eats eating vegan vegetarian meat food meals meal allergic lunch breakfast dinner
    cook cooking restaurant snack dish drink drinks coffee tea""",
    # contact
    "phone number call reach email mail contact telephone mobile sim line address",
    # time
    """schedule scheduled meeting appointment rescheduled postponed pushed moved deadline due class
    session course every runs starts start""",
    # money
    """price cost costs rent pay pays paid salary fee budget euros dollars euro dollar raised month
    bill owes charge""",
    # health
    """doctor dentist dose medication pills medicine takes prescription mg therapist clinic
    physician surgeon vet patient teeth allergy""",
    # vehicle
    "car drive drives driving bike bicycle bus train tram commute commutes vehicle truck motorbike ride",
    # travel
    "trip holiday vacation travel flying flight visit booked destination hotel journey",
    # liking
    """like likes love loves enjoy enjoys favourite favorite prefer prefers hate hates dislike fan
    best preference choose stand""",
    # hobby
    """hobby hobbies sport practise practice play plays playing training train gym free class lessons
    club swim swimming run running yoga""",
    # ownership
    """charge responsible owns owner lead leads manages manager runs care handles ask handed
    maintains contact""",
    # machines
    """version editor database server runs uses using use tool language framework upgraded production
    installed config setting set limit port backup network deploy stack""",
    # study
    """learning learn study studies studying course class lessons degree school university major
    enrolled""",
    # supply
    "supplier buy buys order ordered delivered delivers comes get ordering bought source",
)
"""Words of everyday subjects, one subject each, at most 32."""

"""The queries of the recorded searches."""

from __future__ import annotations

from tests.frozen.corpus import PEOPLE, code_of
from tests.frozen.vectors import SUBJECTS

__all__ = [
    "ALIKE",
    "BARE",
    "COMPOUND",
    "CONCEPTUAL",
    "FOREIGN",
    "MARKED",
    "NAVIGATIONAL",
    "PLAIN",
    "STRANGE",
    "TIMED",
    "UNTIMED",
]


def _parted(text: str) -> tuple[str, ...]:
    """Return the queries of a text, which are separated by bars."""
    return tuple(one for part in text.split("|") if (one := part.strip()))


_NAMES = [names[number % len(names)] for number, names in enumerate(SUBJECTS)]

PLAIN = (
    *(f"what did we decide about the {name}?" for name in _NAMES[::3]),
    *(f"{name} and {_NAMES[number - 5]}" for number, name in enumerate(_NAMES) if number % 4 == 1),
    *(
        f"who will {verb} the {_NAMES[3 * n]}"
        for n, verb in enumerate(("paint", "sell", "measure"))
    ),
    *(f"{who} prefers {_NAMES[7 * n]} or {_NAMES[7 * n + 1]}" for n, who in enumerate(PEOPLE[:6])),
    *(f"did {who} like the {_NAMES[5 * n + 2]} rather than tea" for n, who in enumerate(PEOPLE)),
    *(f"{name} failed, nobody knew" for name in _NAMES[2::9]),
)

CONCEPTUAL = (
    *(f"how does the {name} work" for name in _NAMES[1::6]),
    *(f"explain the architecture of the {name}" for name in _NAMES[2::11]),
    *(f"why is the {name} slow, and who understands it?" for name in _NAMES[4::12]),
    "overview of the deploy strategy",
    "the design pattern behind our cache",
)

NAVIGATIONAL = (
    *(f"ERR_{code_of(number)}-{number % 17}" for number in range(0, len(SUBJECTS), 5)),
    *(f"retry_{code_of(number).lower()}_{number % 9}" for number in range(1, len(SUBJECTS), 8)),
    *_parted(
        """
        src/net/pool.py | ./src/net/deploy.py | (~/notes/plan | C:/Users/ada | a/b | `timeout` |
        ConnectionPool3 | v1.2.1 | 2.6 | mem-0000000f | 0bfdd499 | https://example.org/pool |
        http://a | "the costs rose" | getHTTPResponse | _private_name | état_critique |
        ÉtatCritique | x_ | notes.v2
        """
    ),
)

ALIKE = (  # almost the text of a memory, with a sign of code in it
    "ERR_SOCK-3: the connection pool failed with a timeout, see v3.3.1 and ConnectionPool3",
    "ERR_BREW-8: the coffee failed with a timeout, see v0.4.1 and ConnectionPool2",
    "ERR_LANE-1: the swimming failed with an empty page, see v1.2.1 and ConnectionPool0",
    "def retry_keys_4(self): # piano in src/net/piano.py",
    "def retry_rest_1(self): # the search index in src/net/search.py",
    "İstanbul trip: pack the camera (12) `x`",
    "ΟΔΥΣΣΕΥΣ and the museum of Ithaca (3) `x`",
)

COMPOUND = (
    "how does the connection pool work and also why did the deploy fail?",
    "what is the coffee budget, when did we paint the kitchen",
    "where is the piano, who likes the violin, what about the chess",
    (
        "tell me about the marathon training and find the notes on the hiking trail "
        "as well as the weather forecast"
    ),
    (
        "which firewall ports are open and which certificates expired and which contract clause "
        "changed, and also which doctor was booked and which school has homework"
    ),
    "the login and the password",  # too short to be parted
    'what does "fish and chips" mean to Ada and where did she read it',  # quoted: whole
    "what did Ada say about the pool last week and what did Grace say of the cache in May 2025?",
    "ERR_POOL-12 and also the timeout of the scheduler",
    "how do we measure the cache and also how do we replace the cache",
    "zorgle fribbet quuxing and also wibble wobble snarking",
    "what is it, what is it, what is it and when",
)

FOREIGN = _parted(
    """
    東京の会議 | 東京 | 数据库连接池 | 커피보다 차를 | Übergabe an Jürgen | JUERGEN | réunion jeudi | cafe noir |
    ＡＢＣ width | fine ligatures | istanbul trip | οδυσσευς | Миграция схемы | 🙂 🎂
    """  # noqa: RUF001
)

STRANGE = (
    *("", " ", "?!", "the of and", "zorgle fribbet quux", "\0", "a", "Ada " * 60, "don't"),
    "one " * 3 + "very long question about " + " ".join(_NAMES) + " " + "and so on " * 40,
    " ".join(f"word{number}" for number in range(300)),
    "' OR 1=1; DROP TABLE memories; --",
)

BARE = (*PLAIN[::6], *CONCEPTUAL[::5], *NAVIGATIONAL[::8], "", "zorgle fribbet quux")
"""A few of each sort, for scenarios that run every query under many options."""

TIMED = _parted(
    """
    what happened yesterday | what is planned for tomorrow | notes of today | who called tonight |
    the day before yesterday | the day after tomorrow | last night | this morning | this week |
    what did we decide last week | pool failures last month | last year's budget | next week |
    in the last year | the past month | the past hour | in the last 3 days | the next two weeks |
    two weeks ago | a few days ago | a couple of weeks ago | an hour ago | several months ago |
    3 years ago | two weekends ago | last weekend | this weekend | a weekend ago | last tuesday |
    on monday | next friday | this thursday | by sunday | last may | this march | next december |
    in March 2024 | during May | in May 2025 | since April 2025 | until June 2024 | before 2024 |
    after May 3, 2025 | on 2025-05-01 | on 2025-05-01T10:00 | 1.5.2025 | 13/5/2025 | 5/1/2025 |
    between 11 and 15 May 2025 | between March and May 2025 | from March 3 to March 9, 2025 |
    from May 2025 until today | 3 May to 9 May 2025 | December 20 - January 5 2025 | 2025-03 |
    early March 2025 | mid-May 2025 | end of 2024 | the beginning of April 2025 | late last year |
    middle of the month | the second week of May 2025 | the last week of April |
    first week of 2024 | around May 2024 | about March 5 | as of May 2025 | circa 2023 |
    roughly two months ago | three days before May 10, 2025 | the week after May 3 |
    a month before yesterday | the weekend before June 1, 2025 | the weekend after May 1, 2025 |
    two weekends before May 2025 | a few weeks after March 2025 |
    the last day before the release on 2025-05-01 | 20 May 2025 pool | the 3rd of May |
    May 3rd, 2025 | 3 of May, 2025 | May of 2025 | Sept 2024 | 2024 and May 2025 |
    what did Ada say about the pool last week, or was it in May 2025? |
    between May 2025 and the pool | between 11 and 15 people on monday |
    in may be late, in 2025-03 | between May 2025 and March 2025 | during november |
    this hour, today | today, this morning | the weekend before May 28, 2025 |
    the weekend after May 28, 2025 | last december | next march |
    the weekend before June 2, 2025 | since the day before yesterday | in 2025-03 |
    in may be late | until the day after tomorrow | between 3 and 5 on monday |
    the weekend after June 7, 2025 | since last week the deploy fails |
    after next week we sell the laptop | before last month the cache was slow
    """
)

# These look like times and are none.
UNTIMED = _parted(
    """
    a week after the party | two days before lunch |
    may 5 people come | may be in March | ERR-2024-05 | $2025 | v2025.1 | 5/13/20 | the year |
    May on the balcony | march to the summit | day and night | May 32, 2025 | 31 February 2025 |
    between 3 and 5 | 0 may 2025 | between 0 and 5 May 2025 | from now on | the second week |
    9999-12-31 and next year | in the year 0001 | next 999 years | start one year ago
    """
)

MARKED = (
    "",
    *_parted(
        """
    "connection pool" | +pool -deploy | +tags:err* timeout | title:notes cache |
    text:rewrite +login | pool* -title:notes | -"nobody knew" coffee | +"because it was slow" |
    retr* +src/net/pool.py | -pool | +zorgle | +the pool | 東* | "東京の会議" | +high-speed rail |
    a* b* | -tags:urgent budget | +tags:"pool.py" ada | Title:notes | --pool | + |
    "unclosed quote | müde | tags:müde weather | +ada +coffee | +ada -coffee last week |
    how does the pool work -deploy | * | prefer* +wen | +text:decided +title:plan | zoë* -tea
    """
    ),
)

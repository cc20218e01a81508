"""The times that questions name: docs/systems/omega.md O4, O22."""

from __future__ import annotations

import calendar
import math
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oneiros
from oneiros.search.query.date_grammar import first_range
from oneiros.search.query.dates import may_name_a_time, range_in

WEDNESDAY = datetime(2025, 6, 18, 12, tzinfo=UTC)
NOW = WEDNESDAY.timestamp()
ANY_DAY = st.datetimes(datetime(1950, 1, 1), datetime(2090, 12, 31)).map(
    lambda moment: moment.replace(hour=0, minute=0, second=0, microsecond=0)
)
FORMS = (
    "{d:%Y-%m-%d}",
    "{d:%Y/%m/%d}",
    "{d:%d.%m.%Y}",
    "{d.day}.{d.month}.{d.year}",
    "{d:%B} {d.day}, {d.year}",
    "{d:%b} {d.day} {d.year}",
    "{d.day} {d:%B} {d.year}",
    "{d.day}th of {d:%B}, {d.year}",
    "{d.day} {d:%B}, {d.year}",
)


def seconds(moment: datetime) -> float:
    return moment.replace(tzinfo=UTC).timestamp()


def day(text: str) -> float:
    return seconds(datetime.fromisoformat(text))


@pytest.mark.parametrize(
    ("query", "start", "end", "certainty"),
    [
        ("what did we do last week", "2025-06-09", "2025-06-16", "inferred"),
        ("in March 2024", "2024-03-01", "2024-04-01", "explicit"),
        ("three days before the release on 2025-05-01", "2025-04-28", "2025-04-29", "explicit"),
        ("yesterday's talk, or yesterday", "2025-06-17", "2025-06-18", "inferred"),
        ("between 2024-01-05 and 2024-02-01", "2024-01-05", "2024-02-02", "explicit"),
        ("2 weeks ago", "2025-06-01", "2025-06-08", "inferred"),
        ("since Monday", "2025-06-16", "2025-06-18T12:00", "inferred"),
        ("in 2023", "2023-01-01", "2024-01-01", "explicit"),
        ("between August 11 and August 15 2023", "2023-08-11", "2023-08-16", "explicit"),
        ("between 11 and 15 August 2023", "2023-08-11", "2023-08-16", "explicit"),
        ("between the 11th and 15th of August 2023", "2023-08-11", "2023-08-16", "explicit"),
        ("from the 11th to the 15th of August, 2023", "2023-08-11", "2023-08-16", "explicit"),
        ("from May 3 to 7, 2024", "2024-05-03", "2024-05-08", "explicit"),
        ("between May 3 and 7, 2024", "2024-05-03", "2024-05-08", "explicit"),
        ("on May 3rd to 7th 2024", "2024-05-03", "2024-05-08", "explicit"),
        ("the trip of May 3-7, 2024", "2024-05-03", "2024-05-08", "explicit"),
        ("the trip of May 3\u20137, 2024", "2024-05-03", "2024-05-08", "explicit"),
        ("3 to 7 May 2024", "2024-05-03", "2024-05-08", "explicit"),
        ("3-7 May 2024", "2024-05-03", "2024-05-08", "explicit"),
        ("July 3 to 7", "2025-07-03", "2025-07-08", "explicit"),  # it is 18 June
        ("what did we do from July 3 to 7?", "2024-07-03", "2024-07-08", "explicit"),
        ("June 17 to 20", "2025-06-17", "2025-06-21", "explicit"),
        ("around May 3-7", "2025-05-03", "2025-05-08", "soft"),
        ("May 30 to 2 June 2024", "2024-05-30", "2024-06-03", "explicit"),
        ("on May 3 to 7 days later", "2025-05-03", "2025-05-04", "explicit"),
        ("May 3 and 7, 2024", "2025-05-03", "2025-05-04", "explicit"),
        ("the 3-7 in May 2024", "2024-05-01", "2024-06-01", "explicit"),
        ("from February until now", "2025-02-01", "2025-06-18T12:00", "explicit"),
        ("between last Monday and now", "2025-06-16", "2025-06-18T12:00", "inferred"),
        ("how is it now, from February on?", "2025-02-01", "2025-03-01", "explicit"),
        ("from March to May 2024", "2024-03-01", "2024-06-01", "explicit"),
        ("from November to February 2024", "2023-11-01", "2024-03-01", "explicit"),
        ("March 3 - March 9 2024", "2024-03-03", "2024-03-10", "explicit"),
        ("after 2025-01-01", "2025-01-02", "2025-06-18T12:00", "explicit"),
        ("in the last two weeks", "2025-06-04T12:00", "2025-06-18T12:00", "inferred"),
        ("last year", "2024-01-01", "2025-01-01", "inferred"),
        ("during the last year", "2024-06-18T12:00", "2025-06-18T12:00", "inferred"),
        ("last Monday", "2025-06-16", "2025-06-17", "inferred"),
        ("last Wednesday", "2025-06-11", "2025-06-12", "inferred"),
        ("on Wednesday", "2025-06-18", "2025-06-19", "inferred"),
        ("next Friday", "2025-06-20", "2025-06-21", "inferred"),
        ("on Friday the 13th of June", "2025-06-13", "2025-06-14", "explicit"),
        ("on Tuesday last week", "2025-06-10", "2025-06-11", "inferred"),
        ("what is on Friday of next week?", "2025-06-27", "2025-06-28", "inferred"),
        ("on Tuesday evening last week", "2025-06-10", "2025-06-11", "inferred"),
        ("on Monday two weeks ago", "2025-06-02", "2025-06-03", "inferred"),
        ("between Monday and Wednesday last week", "2025-06-09", "2025-06-16", "inferred"),
        ("on Monday or Tuesday of last week", "2025-06-09", "2025-06-16", "inferred"),
        ("Sunday last week", "2025-06-15", "2025-06-16", "inferred"),
        ("since Tuesday last week", "2025-06-10", "2025-06-18T12:00", "inferred"),
        ("on Tuesday, and last week", "2025-06-17", "2025-06-18", "inferred"),
        ("last weekend", "2025-06-14", "2025-06-16", "inferred"),
        ("over the last weekend", "2025-06-14", "2025-06-16", "inferred"),
        ("this past weekend", "2025-06-14", "2025-06-16", "inferred"),
        ("the coming weekend", "2025-06-21", "2025-06-23", "inferred"),
        ("what did we do the weekend before last?", "2025-06-07", "2025-06-09", "inferred"),
        ("the week before last we met", "2025-06-02", "2025-06-09", "inferred"),
        ("the week before last Friday", "2025-06-06", "2025-06-13", "inferred"),
        ("the month after next", "2025-08-01", "2025-09-01", "inferred"),
        ("two weeks from now", "2025-06-29", "2025-07-06", "inferred"),
        ("a week from today", "2025-06-25", "2025-06-26", "inferred"),
        ("three days from tomorrow", "2025-06-22", "2025-06-23", "inferred"),
        ("a year ago today", "2024-06-18", "2024-06-19", "inferred"),
        ("two weeks ago yesterday", "2025-06-03", "2025-06-04", "inferred"),
        ("on this day last year", "2024-06-18", "2024-06-19", "inferred"),
        ("what did we plan this week last year", "2024-06-17", "2024-06-24", "inferred"),
        ("sales this month last year", "2024-06-01", "2024-07-01", "inferred"),
        ("this month next year", "2026-06-01", "2026-07-01", "inferred"),
        ("this time last year", "2024-06-15", "2024-06-22", "soft"),
        ("ten minutes ago", "2025-06-18T11:45", "2025-06-18T11:55", "inferred"),
        ("in the last 30 minutes", "2025-06-18T11:30", "2025-06-18T12:00", "inferred"),
        ("half an hour ago", "2025-06-18T11:25", "2025-06-18T11:35", "inferred"),
        ("half a year ago", "2024-12-01", "2025-01-01", "inferred"),
        ("a fortnight ago", "2025-06-01", "2025-06-08", "inferred"),
        ("two decades ago", "2005-01-01", "2006-01-01", "inferred"),
        ("last quarter", "2025-01-01", "2025-04-01", "inferred"),
        ("this quarter", "2025-04-01", "2025-07-01", "inferred"),
        ("two quarters ago", "2024-10-01", "2025-01-01", "inferred"),
        ("sales in Q1", "2025-01-01", "2025-04-01", "explicit"),
        ("the Q3 2024 results", "2024-07-01", "2024-10-01", "explicit"),
        ("Q4 of last year", "2024-10-01", "2025-01-01", "explicit"),
        ("from Q1 to Q3 2024", "2024-01-01", "2024-10-01", "explicit"),
        ("this month", "2025-06-01", "2025-07-01", "inferred"),
        ("last July", "2024-07-01", "2024-08-01", "inferred"),
        ("in July", "2025-07-01", "2025-08-01", "explicit"),
        ("where were we in July?", "2024-07-01", "2024-08-01", "explicit"),
        ("in August", "2024-08-01", "2024-09-01", "explicit"),  # it begins in 44 days
        ("a couple of months ago", "2025-04-01", "2025-05-01", "inferred"),
        ("a few days ago", "2025-06-15", "2025-06-16", "soft"),
        ("around May 2024", "2024-05-01", "2024-06-01", "soft"),
        ("as of May 2024", "2024-05-01", "2024-06-01", "soft"),
        ("the day before yesterday", "2025-06-16", "2025-06-17", "inferred"),
        ("what did we do this morning?", "2025-06-18", "2025-06-19", "inferred"),
        ("This Afternoon", "2025-06-18", "2025-06-19", "inferred"),
        ("since this morning", "2025-06-18", "2025-06-18T12:00", "inferred"),
        ("the week before 16 November 2023", "2023-11-09", "2023-11-16", "explicit"),
        ("two weeks before August 11, 2023", "2023-07-25", "2023-08-01", "explicit"),
        ("the second week of November", "2024-11-08", "2024-11-15", "explicit"),
        ("the last week of May", "2025-05-25", "2025-06-01", "explicit"),
        ("the last week of last month", "2025-05-25", "2025-06-01", "inferred"),
        ("the last week of school", "2025-06-11T12:00", "2025-06-18T12:00", "inferred"),
        ("in the week of the 8th of May", "2025-05-05", "2025-05-12", "explicit"),
        ("the weekend of March 8, 2025", "2025-03-08", "2025-03-10", "explicit"),
        ("the week of May", "2025-05-01", "2025-06-01", "explicit"),
        ("last weekend before April 10, 2023", "2023-04-08", "2023-04-10", "explicit"),
        ("the weekend after 2025-05-01", "2025-05-03", "2025-05-05", "explicit"),
        ("last week, as told on 6 November 2023", "2023-11-06", "2023-11-07", "explicit"),
        ("was war am 12.5.2025?", "2025-05-12", "2025-05-13", "explicit"),
        ("1.2.2025 - 10.2.2025", "2025-02-01", "2025-02-11", "explicit"),
        ("2025-05-01T10:00:00Z", "2025-05-01", "2025-05-02", "explicit"),
        ("on May 5", "2025-05-05", "2025-05-06", "explicit"),
        ("on 5 July", "2025-07-05", "2025-07-06", "explicit"),
        ("is the office closed on 19 June?", "2025-06-19", "2025-06-20", "explicit"),
        ("the last day, 18 July", "2025-07-18", "2025-07-19", "explicit"),
        ("the dentist on 19 July", "2025-07-19", "2025-07-20", "explicit"),
        ("the dentist on 20 July", "2024-07-20", "2024-07-21", "explicit"),
        ("On 5 July, what did I eat?", "2024-07-05", "2024-07-06", "explicit"),
        ("I was ill. What comes on 5 July?", "2025-07-05", "2025-07-06", "explicit"),
        ("since 5 July", "2024-07-05", "2025-06-18T12:00", "explicit"),
        ("since the 5th of July", "2024-07-05", "2025-06-18T12:00", "explicit"),
        ("from 20 June to 3 July", "2025-06-20", "2025-07-04", "explicit"),
        ("from May to July", "2025-05-01", "2025-08-01", "explicit"),
        ("between May and July, what happened?", "2024-05-01", "2024-08-01", "explicit"),
        ("what is due by Friday?", "2025-06-20", "2025-06-21", "soft"),
        ("what is due by Wednesday?", "2025-06-18", "2025-06-19", "soft"),  # today
        ("what was due by Friday?", "2025-06-13", "2025-06-14", "soft"),
        ("the call on Friday", "2025-06-13", "2025-06-14", "inferred"),
        ("what did we do on may 5?", "2025-05-05", "2025-05-06", "explicit"),
        ("on march 3rd", "2025-03-03", "2025-03-04", "explicit"),
        ("on march 3-7", "2025-03-03", "2025-03-08", "explicit"),
        ("twenty-one days ago", "2025-05-28", "2025-05-29", "inferred"),
        ("what did I eat twenty days ago?", "2025-05-29", "2025-05-30", "inferred"),
        ("in the last thirty days", "2025-05-19T12:00", "2025-06-18T12:00", "inferred"),
        ("in May last year", "2024-05-01", "2024-06-01", "explicit"),
        ("since may of last year", "2024-05-01", "2025-06-18T12:00", "explicit"),
        ("what did we do last year in March?", "2024-03-01", "2024-04-01", "explicit"),
        ("on May 5, last year", "2024-05-05", "2024-05-06", "explicit"),
        ("last year on the 5th of May", "2024-05-05", "2024-05-06", "explicit"),
        ("on July 5 this year", "2025-07-05", "2025-07-06", "explicit"),
        ("from May 3 to 7 last year", "2024-05-03", "2024-05-08", "explicit"),
        ("from March to May last year", "2024-03-01", "2024-06-01", "explicit"),
        ("early in May next year", "2026-05-01", "2026-06-01", "explicit"),
        ("on February 29 this year, or in May 2023", "2023-05-01", "2023-06-01", "explicit"),
    ],
)
def test_times_as_people_say_them(query: str, start: str, end: str, certainty: str) -> None:
    found = range_in(query, NOW)
    assert found is not None
    assert found[:3] == (day(start), day(end), certainty)
    assert found.words in query


@pytest.mark.parametrize(
    ("today", "start"),
    [
        ("2025-06-16", "2025-06-21"),
        ("2025-06-20", "2025-06-21"),
        ("2025-06-21", "2025-06-28"),
        ("2025-06-22", "2025-06-28"),
    ],
)
def test_the_coming_weekend_is_the_next_that_begins(today: str, start: str) -> None:
    found = range_in("the coming weekend", day(today) + 3_600)
    assert found is not None
    assert (found.start, found.end) == (day(start), day(start) + 2 * 86_400)


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("before March 2024", -math.inf, day("2024-03-01")),
        ("until March 2024", -math.inf, day("2024-04-01")),
        ("after 2026-01-01", day("2026-01-02"), math.inf),
    ],
)
def test_ranges_may_be_endless(query: str, start: float, end: float) -> None:
    found = range_in(query, NOW)
    assert found is not None
    assert found[:3] == (start, end, "explicit")


@pytest.mark.parametrize("query", ["between 15 and 11 August 2023", "between 0 and 11 August 2023"])
def test_a_pair_in_the_wrong_order_is_no_range(query: str) -> None:
    found = range_in(query, NOW)
    assert found is not None
    assert found.words == "11 August 2023"
    assert found.end - found.start == 86_400


@pytest.mark.parametrize(
    "query",
    [
        *("may I go", "march on Washington", "they march in step", "may 5 people come", "a mar"),
        *("python 3.11", "v2024.1", "release 2024.1.2", "10.0.0.1", "1.4.15", "2024-13-45"),
        *("it costs $2023", "2023 USD", "€2,023.50", "in 2,023 cases", "100% of 2023%"),
        *(
            "call 555-2024",
            "+49 2023 1999",
            "ERR-2024-05",
            "#2024",
            "in ERR-2023",
            "file_2023-05-01",
        ),
        *("room 2019", "2048 bits", "build2023-05-01", "2023-05-01abc", "/logs/2023-05-01/x"),
        *("5/1/2025", "May 35", "a day", "5 days", "years ago", "mondays", "daylight", "weekly"),
        *("second thoughts", "the last straw", "this one", "how long ago", "decide"),
        *("1 year and 2 months ago", "at the last minute", "a quarter of the budget", "Q10", "HQ4"),
        *("1 year, 2 months ago", "who was there 1,000 days ago?", "2,000 years ago"),
        *("before the accident", "after the trip", "since then", "between us", ""),
        *("what is in yesterday.txt?", "notes/today.md", "mail of today@home.org"),
        *("what did I promise by Friday the 13th?", "on Monday 16th"),
    ],
)
def test_what_is_no_time(query: str) -> None:
    assert range_in(query, NOW) is None


@pytest.mark.parametrize(
    ("query", "now", "start", "end"),
    [
        ("what happened on Feb 29?", "2025-05-01", "2024-02-29", "2024-03-01"),
        ("what happened on 29 February?", "2024-01-15", "2020-02-29", "2020-03-01"),
        ("on the 29th of February", "2024-02-29", "2024-02-29", "2024-03-01"),
        ("since Feb 29", "2025-05-01", "2024-02-29", "2025-05-01"),
    ],
)
def test_february_29_without_a_year_is_the_last_one(
    query: str, now: str, start: str, end: str
) -> None:
    found = range_in(query, day(now))
    assert found is not None
    assert (found.start, found.end) == (day(start), day(end))


TOKYO, BERLIN = ZoneInfo("Asia/Tokyo"), ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("query", "zone", "now", "start", "end"),
    [
        ("yesterday", TOKYO, "2025-06-18T08:00", "2025-06-17T00:00", "2025-06-18T00:00"),
        ("on 17 June 2025", TOKYO, "2025-06-20T00:30", "2025-06-17T00:00", "2025-06-18T00:00"),
        ("last week", BERLIN, "2025-06-16T00:30", "2025-06-09T00:00", "2025-06-16T00:00"),
        ("since Monday", BERLIN, "2025-06-18T12:00", "2025-06-16T00:00", "2025-06-18T12:00"),
        # a day of 23 hours
        ("yesterday", BERLIN, "2025-03-31T12:00", "2025-03-30T00:00", "2025-03-31T00:00"),
    ],
)
def test_days_are_those_of_the_zone(
    query: str, zone: tzinfo, now: str, start: str, end: str
) -> None:
    found = range_in(query, datetime.fromisoformat(now).replace(tzinfo=zone).timestamp(), zone)
    assert found is not None
    ends = [datetime.fromtimestamp(one, zone).replace(tzinfo=None) for one in found[:2]]
    assert ends == [datetime.fromisoformat(start), datetime.fromisoformat(end)]


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("an hour ago", -1.5, -0.5),
        ("in the last hour", -1, 0),
        ("in the last 24 hours", -24, 0),
        ("in the next 3 hours", 0, 3),
    ],
)
@pytest.mark.parametrize(
    "now",
    [
        datetime(2025, 10, 26, 2, 30, tzinfo=BERLIN),
        datetime(2025, 10, 26, 2, 30, fold=1, tzinfo=BERLIN),  # an hour later
        datetime(2025, 10, 26, 12, tzinfo=BERLIN),  # clocks were set back that night
        datetime(2025, 3, 30, 3, 30, tzinfo=BERLIN),  # half an hour after 1:59
    ],
)
def test_hours_are_as_long_where_clocks_are_set(
    now: datetime, query: str, start: float, end: float
) -> None:
    found = range_in(query, now.timestamp(), BERLIN)
    assert found is not None
    ends = [(one - now.timestamp()) / 3_600 for one in found[:2]]
    assert ends == [start, end]


def test_an_engine_reads_days_in_its_time_zone() -> None:
    now = datetime(2025, 6, 18, 8, tzinfo=TOKYO)
    found = {}
    for zone in (None, "Asia/Tokyo"):
        with oneiros.Engine(":memory:", timezone=zone, clock=now.timestamp) as mind:
            for day_before in (1, 2):
                noon = now.replace(hour=12) - timedelta(days=day_before)
                mind.add("Ada called", id=f"{day_before} before", created_at=noon)
            found[zone] = mind.search("who called yesterday?").ids[0]
    assert found == {None: "2 before", "Asia/Tokyo": "1 before"}


@pytest.mark.parametrize("sign", ["²", "①", "¹nd", "② days ago"])
def test_a_digit_without_a_number_hides_no_time(sign: str) -> None:
    assert range_in(f"{sign} what did we do last week", NOW) == range_in("last week", NOW)


@settings(max_examples=60)
@given(ANY_DAY, st.sampled_from(FORMS))
def test_every_day_is_read_as_it_is_written(moment: datetime, form: str) -> None:
    found = range_in(f"what happened on {form.format(d=moment)}?", NOW)
    assert found is not None
    assert found[:3] == (seconds(moment), seconds(moment) + 86_400, "explicit")


@settings(max_examples=60)
@given(ANY_DAY, st.integers(1, 60), st.sampled_from(["before", "after"]))
def test_days_are_counted_from_an_anchor(moment: datetime, count: int, side: str) -> None:
    found = range_in(f"the talk {count} days {side} {moment:%Y-%m-%d}", NOW)
    want = moment + timedelta(days=-count if side == "before" else count)
    assert found is not None
    assert found[:2] == (seconds(want), seconds(want) + 86_400)


@settings(max_examples=60)
@given(st.datetimes(datetime(1950, 1, 1), datetime(2090, 1, 1)), st.integers(1, 40))
def test_times_ago_hold_the_same_moment_back_then(now: datetime, count: int) -> None:
    moment = seconds(now)
    days = range_in(f"{count} days ago", moment)
    weeks = range_in(f"{count} weeks ago", moment)
    months = range_in(f"{count} months ago", moment)
    years = range_in(f"{count} years ago", moment)
    assert days is not None
    assert weeks is not None
    assert months is not None
    assert years is not None
    assert days.start <= moment - count * 86_400 < days.end == days.start + 86_400
    assert weeks.start <= moment - count * 604_800 < weeks.end == weeks.start + 604_800
    ordinal = now.year * 12 + now.month - 1 - count
    first = datetime(ordinal // 12, ordinal % 12 + 1, 1)
    length = calendar.monthrange(first.year, first.month)[1]
    assert (months.start, months.end) == (seconds(first), seconds(first) + length * 86_400)
    assert years.start == seconds(datetime(now.year - count, 1, 1))


@settings(max_examples=100)
@given(st.text(st.sampled_from("1290-/.: MaymjJIn5dbefor2024"), max_size=40), st.floats(0, 4e9))
def test_whatever_is_asked_there_is_a_range_or_none(query: str, now: float) -> None:
    found = range_in(query, now)
    assert found is None or found.start < found.end


WORDS = [
    "a",
    "the",
    "last",
    "past",
    "next",
    "this",
    "few",
    "two",
    "3",
    "hour",
    "days",
    "week",
    "months",
    "year",
    "weekend",
    "ago",
    "yesterday",
    "tonight",
    "night",
    "morning",
    "afternoon",
    "evening",
    "before",
    "since",
    "until",
    "between",
    "and",
    "in",
    "on",
    "by",
    "mid-",
    "late",
    "end",
    "of",
    "second",
    "March",
    "may",
    "Sept",
    "december",
    "Monday",
    "2024",
    "2098",
    "2024-05",
    "2024-05-03",
    "3.5.2024",
    "around",
]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join))
def test_the_quick_look_passes_all_that_the_grammar_reads(query: str) -> None:
    assert may_name_a_time(query) or first_range(query, NOW) is None


@pytest.mark.parametrize(
    "unit",
    ["between ", "the ", "early ", "three days before ", "3 days ago ", "2024-", "1-", "2023"],
)
def test_hostile_text_is_read_in_one_go(unit: str) -> None:
    range_in(unit * (65_536 // len(unit)), NOW)  # and returns


@pytest.mark.parametrize("now", [-1e15, 1e15, -6e10])
def test_a_clock_beyond_the_calendar_names_no_time(now: float) -> None:
    assert range_in("5 hundred years, or 999 years ago", now) is None

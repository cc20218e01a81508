"""Sentences for facts that change: statements, changes in other words, questions, look-alikes.

``{I}`` is the person ("I", or a name), ``{my}`` the possessive, ``{s}``, ``{am}``, ``{have}`` and
``{do}`` follow it; ``{v}`` is the value, ``{old}`` the one before, ``{x}`` a thing that stays.
Kinds alternate between the two halves, so that both have jobs and numbers, people and machines.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CHATTER", "KINDS", "Kind"]


class Kind(NamedTuple):
    """One kind of fact."""

    name: str
    statements: tuple[str, ...]
    changes: tuple[str, ...]
    questions: tuple[str, ...]
    values: tuple[str, ...]
    distractors: tuple[str, ...]
    """Texts about the same thing that change nothing: additions, the past, other people."""
    things: tuple[str, ...] = ("",)


KINDS: tuple[Kind, ...] = (
    Kind(
        "employer",
        ("{I} work{s} at {v} as a civil engineer.", "{my} employer is {v}, a decent place so far."),
        (
            "Started at {v} last week, {my} desk is by the window.",
            "{I} left {old} and signed with {v}.",
            "First day at {v} today, everyone was welcoming.",
            "{v} hired {me} away, the contract begins on Monday.",
        ),
        ("Where {do} {i} work?", "Which company {am} {i} employed by?"),
        ("Brightwell", "Arup", "Lindqvist & Co", "Tarmac West", "Holloway Group", "Nordbau"),
        (
            "{I} used to work summers at a garden centre as a student.",
            "{my} cousin works at Siemens as a welder.",
            "Work was exhausting today, three site visits in the rain.",
        ),
    ),
    Kind(
        "home",
        ("{I} live{s} in {v}, close to the station.", "{my} flat is in {v}."),
        (
            "{I} moved to {v}, boxes are everywhere.",
            "Settled into the new place in {v}, the kitchen is tiny.",
            "{I} no longer live{s} in {old}; {v} is home these days.",
            "The removal van came, so it is goodbye {old}, hello {v}.",
        ),
        ("Where {do} {i} live?", "In which town is {my} flat?"),
        ("Leipzig", "Ghent", "Malmo", "Porto", "Turin", "Krakow"),
        (
            "{I} grew up in a village near the coast.",
            "{my} sister lives in Dublin with two kids.",
            "Spent the weekend in Prague, lovely city to visit.",
        ),
    ),
    Kind(
        "vet",
        ("{my} dog Biscuit sees {v} at the animal clinic.", "Biscuit's vet is {v}."),
        (
            "{v} looks after Biscuit from now on.",
            "{I} took Biscuit to a different vet, {v}, and will stay there.",
            "Biscuit is now a patient of {v}.",
            "Switched vets: {v} is much gentler with Biscuit than {old} was.",
        ),
        ("Who is Biscuit's vet?", "Which vet treats {my} dog?"),
        ("Dr Amara", "Dr Weiss", "Dr Pellegrini", "Dr Okafor", "Dr Lund"),
        (
            "Biscuit ate a sock and was fine by the evening.",
            "The neighbours' cat needed a vet at midnight.",
            "Biscuit also goes to obedience school on Saturdays.",
        ),
    ),
    Kind(
        "diet",
        ("{I} follow{s} a {v} diet.", "{my} meals are strictly {v}."),
        (
            "{I} gave up on {old} food and eat{s} {v} these days.",
            "{I} went {v} in the new year.",
            "{my} doctor put {me} on a {v} plan, so the fridge looks different.",
            "Being {old} did not work out; {v} suits {me} better.",
        ),
        ("What kind of diet {do} {i} follow?", "What {do} {i} eat?"),
        ("vegetarian", "vegan", "ketogenic", "gluten-free", "pescatarian", "paleo"),
        (
            "Lunch with colleagues, one of them had a huge steak.",
            "{I} baked a cake with far too much sugar for the party.",
            "{my} uncle has been on a low-salt diet since his operation.",
        ),
    ),
    Kind(
        "phone",
        ("{my} phone number is {v}.", "You can call {me} on {v}."),
        (
            "{I} got a new number: {v}.",
            "Please delete {old}, {I} can be reached at {v}.",
            "New SIM card, so it is {v} from today.",
            "The line {old} is dead, use {v}.",
        ),
        ("What is {my} phone number?", "How can {i} be reached by phone?"),
        ("555 0134", "555 0177", "555 0192", "555 0148", "555 0110", "555 0165"),
        (
            "{my} phone screen cracked again.",
            "The plumber's phone number is 555 0999.",
            "Spent an hour on the phone with the insurance company.",
        ),
    ),
    Kind(
        "training",
        ("{I} go{es} swimming on {v}.", "{my} swim class is on {v}."),
        (
            "The pool changed the timetable, {my} lane is booked for {v}.",
            "{I} swim{s} on {v} instead of {old}.",
            "Swimming moved to {v} because of the choir.",
            "From this month it is {v} for the swim class.",
        ),
        ("On which day {do} {i} go swimming?", "When is {my} swim class?"),
        ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays"),
        (
            "Swam forty lengths today, a personal best.",
            "Swam fifty lengths today, tired but happy.",
            "{I} also do{es} yoga on Sundays.",
        ),
    ),
    Kind(
        "rent",
        ("{my} rent is {v} a month.", "{I} pay{s} {v} rent every month."),
        (
            "The landlord raised it: the rent is {v} now.",
            "Rent went up from {old} to {v}.",
            "Got the letter, from April {I} owe{s} {v} each month for the flat.",
            "After the talk with the landlord the rent comes to {v}.",
        ),
        ("How much rent {do} {i} pay?", "What does {my} flat cost a month?"),
        ("870 euros", "940 euros", "1,020 euros", "1,150 euros", "790 euros"),
        (
            "{my} brother's rent is 1,400 euros, which is insane.",
            "Rented a van for 60 euros to fetch the shelves.",
            "The rent also covers water and heating.",
        ),
    ),
    Kind(
        "favourite",
        ("{my} favourite band is {v}.", "The band {I} like{s} best is {v}."),
        (
            "{v} is the band {I} play{s} all day; {old} got boring.",
            "{I} {have} a new favourite band: {v}.",
            "No group beats {v} for {me} any more.",
            "If {I} had to choose one band today, it would be {v}.",
        ),
        ("What is {my} favourite band?", "Which band {do} {i} like best?"),
        ("Khruangbin", "Big Thief", "Wet Leg", "Radiohead", "Low", "Alvvays"),
        (
            "{my} favourite season is autumn.",
            "A band played in the park, rather loud.",
            "{my} mother's favourite band is still ABBA.",
        ),
    ),
    Kind(
        "partner",
        ("{I} {am} dating {v}.", "{v} is {my} partner."),
        (
            "It is over with {old}; {I} {am} together with {v} now.",
            "{I} {am} seeing someone new called {v}.",
            "{v} and {I} became a couple.",
            "{my} new partner {v} met the family.",
        ),
        ("Who {am} {i} dating?", "Who is {my} partner?"),
        ("Priya", "Tomasz", "Elena", "Marcus", "Yuki", "Ines"),
        (
            "Dinner with old friends, Henrik repeated his fishing story again.",
            "{my} ex from school got married, good for them.",
            "{my} running partner is Olga.",
        ),
    ),
    Kind(
        "liking",
        ("{I} love{s} {x}.", "{I} really enjoy{s} {x}."),
        (
            "{I} can't stand {x} any more.",
            "{I} {have} gone off {x} completely.",
            "{I} do{es} not like {x} nowadays.",
            "{x}? Not for {me} these days.",
        ),
        ("{Do} {i} like {x}?", "What {do} {i} think of {x}?"),
        ("pro", "contra"),
        (
            "{my} father loves {x} too.",
            "There was {x} at the fair again.",
            "{I} also love{s} long walks.",
        ),
        ("mushroom risotto", "horror films", "karaoke", "black coffee", "board games", "opera"),
    ),
    Kind(
        "trip",
        ("{I} {am} planning a holiday in {v}.", "{my} summer holiday will be in {v}."),
        (
            "Cancelled {old}, {I} {am} flying to {v} for the summer break.",
            "The holiday plan changed to {v}.",
            "Booked {v} after all, cheaper flights for the holiday.",
            "{I} decided on {v} rather than {old}.",
        ),
        ("Where {am} {i} going on holiday?", "What is {my} holiday destination?"),
        ("Crete", "Iceland", "Madeira", "Corsica", "Jordan", "Norway"),
        (
            "Last year's holiday was in Scotland, it rained daily.",
            "The office manager is off to Bali in June.",
            "Bought a guide book and sun cream for the holiday.",
        ),
    ),
    Kind(
        "meeting",
        ("The {x} meeting is on {v}.", "We meet about the {x} on {v}."),
        (
            "The {x} meeting has been pushed to {v}.",
            "{v} it is for the {x}, the room was taken on {old}.",
            "Rescheduled: {x} discussion on {v}.",
            "The {x} meeting won't be on {old} but on {v}.",
        ),
        ("When is the {x} meeting?", "What is the date of the {x} meeting?"),
        ("3 March", "12 March", "27 March", "9 April", "18 April", "30 April"),
        (
            "Prepared slides for the {x} meeting, twelve of them.",
            "The team lunch is on 14 May.",
            "In the meeting somebody spilled tea on the projector.",
        ),
        ("budget", "roadmap", "hiring", "security"),
    ),
    Kind(
        "backup",
        ("The {x} backup runs at {v}.", "Backups of {x} start at {v}."),
        (
            "Backups of {x} were moved to {v} since {old} clashed with the batch job.",
            "The {x} backup job kicks off at {v} now.",
            "Changed the cron entry, {x} is backed up at {v}.",
            "{x}: backup time {v} as of today.",
        ),
        ("At what time does the {x} backup run?", "When is {x} backed up?"),
        ("01:30", "02:15", "03:00", "04:45", "22:10", "23:20"),
        (
            "The {x} backup took 40 minutes yesterday.",
            "Restored a file from the {x} backup without trouble.",
            "The wiki export runs at 05:00.",
        ),
        ("the warehouse", "the ledger database", "the mail server", "the photo archive"),
    ),
    Kind(
        "owner",
        ("{v} is in charge of {x}.", "{v} owns {x}."),
        (
            "{old} handed {x} over to {v}.",
            "{v} takes care of {x} from now on.",
            "Ask {v} about {x}, {old} has other duties.",
            "The new lead for {x} is {v}.",
        ),
        ("Who is responsible for {x}?", "Who owns {x}?"),
        ("Gustav", "Noor", "Brigitte", "Samuel", "Wanda", "Ravi"),
        (
            "{x} had two incidents this week.",
            "Petra reviewed the documentation of {x}.",
            "Conrad is in charge of the coffee machine.",
        ),
        ("the billing service", "the mobile app", "the data pipeline", "vendor contracts"),
    ),
    Kind(
        "car",
        ("{I} drive{s} a {v}.", "{my} car is a {v}."),
        (
            "Sold the {old}; there is a {v} in the driveway.",
            "{I} picked up {my} {v} from the dealer.",
            "{I} traded the {old} in for a {v}.",
            "{my} new car is a {v}.",
        ),
        ("What car {do} {i} drive?", "What kind of car {have} {i}?"),
        ("Skoda Octavia", "Renault Zoe", "Volvo V60", "Fiat Panda", "Toyota Yaris", "Kia Niro"),
        (
            "{my} neighbour drives a vintage Saab.",
            "The car needed new tyres, 400 euros gone.",
            "Rode along in a friend's Tesla, odd feeling.",
        ),
    ),
    Kind(
        "dentist",
        ("{my} dentist is {v}.", "{I} go{es} to {v} for {my} teeth."),
        (
            "{old} retired, so {v} does {my} teeth.",
            "{I} changed dentists, it is {v} now.",
            "Had the first check-up with {v}, who takes over from {old}.",
            "{my} teeth are in the hands of {v} these days.",
        ),
        ("Who is {my} dentist?", "Which dentist {do} {i} go to?"),
        ("Dr Hartmann", "Dr Silva", "Dr Novak", "Dr Ferrari", "Dr Mbeki"),
        (
            "The dentist found no cavities this time.",
            "{my} son's dentist is Dr Small.",
            "Bought an electric toothbrush.",
        ),
    ),
    Kind(
        "editor",
        ("{I} write{s} code in {v}.", "{my} editor is {v}."),
        (
            "{I} ditched {old} and code{s} in {v}.",
            "Installed {v} on all machines, it is {my} editor now.",
            "{I} switched over to {v} for programming.",
            "After years of {old}, {v} is where {I} write{s} code.",
        ),
        ("Which editor {do} {i} use for code?", "What {do} {i} write code in?"),
        ("Vim", "Emacs", "Helix", "Sublime", "Zed", "PyCharm"),
        (
            "Wrote two hundred lines of code today.",
            "A colleague swears by Notepad.",
            "{my} code review took the whole afternoon.",
        ),
    ),
    Kind(
        "language",
        ("{I} {am} learning {v}.", "{I} take{s} evening classes in {v}."),
        (
            "{I} dropped {old} and started {v}.",
            "{my} evening course is {v} this term.",
            "{I} stopped taking {old} lessons; now it is {v}.",
            "Enrolled in {v}, the grammar of {old} was too much.",
        ),
        ("Which language {am} {i} learning?", "What {do} {i} study in the evening?"),
        ("Japanese", "Portuguese", "Arabic", "Finnish", "Greek", "Korean"),
        (
            "{I} learned French at school but forgot it.",
            "A flatmate teaches Spanish online.",
            "Did vocabulary cards on the train.",
        ),
    ),
    Kind(
        "version",
        ("{x} runs on version {v}.", "We have version {v} of {x} in production."),
        (
            "Upgraded {x} to {v}.",
            "{x} was rolled back from {old} to {v}.",
            "Production has {x} {v} since last night.",
            "{x} {v} is live, {old} is gone.",
        ),
        ("Which version of {x} do we run?", "What version is {x} in production?"),
        ("12.4", "13.1", "13.8", "14.2", "15.0", "15.3"),
        (
            "Read the release notes of {x}, nothing for us.",
            "The staging printer driver is on version 9.1.",
            "{x} was slow for ten minutes around noon.",
        ),
        ("Postgres", "Grafana", "GitLab", "Nginx"),
    ),
    Kind(
        "commute",
        ("{I} get{s} to the office by {v}.", "{my} commute is by {v}."),
        (
            "{I} take{s} the {v} to the office now, no more {old}.",
            "Since the roadworks {my} way to the office is by {v}.",
            "The {old} takes too long, {I} go{es} to work by {v} instead.",
            "Found out that the {v} is quicker to the office and stuck with it.",
        ),
        ("How {do} {i} get to the office?", "How {do} {i} commute?"),
        ("tram", "bicycle", "bus", "ferry", "train", "scooter"),
        (
            "The office got new carpets.",
            "{my} boss commutes by motorbike.",
            "Missed a plane once because of snow.",
        ),
    ),
    Kind(
        "headcount",
        ("The {x} team has {v} people.", "There are {v} people in the {x} team."),
        (
            "With the new hires the {x} team is {v} people strong.",
            "After the reorganisation {x} is down to {v} people.",
            "{x} team: {v} people now, it was {old}.",
            "The {x} team grew again, {v} people at the last count.",
        ),
        ("How many people are in the {x} team?", "How big is the {x} team?"),
        ("four", "six", "seven", "nine", "eleven", "fourteen"),
        (
            "The {x} team went bowling, three people won prizes.",
            "The legal team has five people.",
            "Ten people came to the open day.",
        ),
        ("platform", "design", "support", "sales"),
    ),
    Kind(
        "hobby",
        ("In {my} free time {I} mostly do{es} {v}.", "{my} main hobby is {v}."),
        (
            "{v} has replaced {old} as {my} hobby.",
            "{I} picked up {v}; the {old} gear is in the attic.",
            "These days {my} evenings belong to {v}.",
            "{I} quit {old} and took up {v}.",
        ),
        ("What is {my} hobby?", "What {do} {i} do in {my} free time?"),
        ("pottery", "climbing", "beekeeping", "archery", "woodwork", "sailing"),
        (
            "Free time is rare this month.",
            "{my} aunt does embroidery.",
            "Watched a film about chess.",
        ),
    ),
    Kind(
        "supplier",
        ("The {x} for the bakery comes from {v}.", "We buy {x} from {v}."),
        (
            "We get the {x} from {v} since {old} raised prices.",
            "New supplier for {x}: {v}.",
            "Our {x} is delivered by {v} from this week.",
            "Stopped ordering {x} at {old}, {v} is cheaper.",
        ),
        ("Who supplies the {x}?", "Where do we buy {x}?"),
        ("Miller Mills", "Greenfield", "Bauer Farm", "Eastgate", "Van Dam"),
        (
            "Ran out of {x} on Saturday afternoon.",
            "The oven was repaired by Hoffmann.",
            "The {x} cake sold well.",
        ),
        ("flour", "butter", "honey", "eggs"),
    ),
    Kind(
        "wifi",
        ("The Wi-Fi in the {x} is called {v}.", "Network name in the {x}: {v}."),
        (
            "Replaced the router, the {x} network is {v}.",
            "In the {x} connect to {v}, {old} was switched off.",
            "The Wi-Fi of the {x} was renamed to {v}.",
            "{x} guests should use {v} as Wi-Fi from now on.",
        ),
        ("What is the Wi-Fi in the {x} called?", "Which network is there in the {x}?"),
        ("bluebird", "magpie-5", "kestrel", "nightjar", "sparrow2"),
        (
            "The Wi-Fi in the {x} was slow during the call.",
            "The {x} got a new whiteboard.",
            "The car park has no Wi-Fi.",
        ),
        ("studio", "meeting room", "holiday cottage", "workshop"),
    ),
    Kind(
        "dose",
        ("{I} take{s} {v} of {x} a day.", "{my} dose of {x} is {v}."),
        (
            "The doctor put {me} on {v} of {x}.",
            "{x} was reduced from {old} to {v}.",
            "Only {v} of {x} from tomorrow.",
            "{my} {x} prescription says {v} now.",
        ),
        ("How much {x} {do} {i} take?", "What is {my} dose of {x}?"),
        ("10 mg", "20 mg", "25 mg", "40 mg", "75 mg"),
        (
            "Picked up the {x} from the pharmacy.",
            "{my} grandmother takes 5 mg of warfarin.",
            "{I} also take{s} vitamin D in winter.",
        ),
        ("lisinopril", "sertraline", "levothyroxine", "metformin"),
    ),
    Kind(
        "deadline",
        ("The {x} is due on {v}.", "Deadline for the {x}: {v}."),
        (
            "We got an extension, the {x} must be in by {v}.",
            "The {x} deadline was brought forward from {old} to {v}.",
            "The client wants the {x} on {v} instead.",
            "{x} is not due on {old} any more, it is {v}.",
        ),
        ("When is the {x} due?", "What is the deadline for the {x}?"),
        ("6 June", "15 June", "28 June", "4 July", "19 July"),
        (
            "Worked late on the {x}, half of it is written.",
            "The tax form is due on 31 August.",
            "The {x} looks good in the new font.",
        ),
        ("grant proposal", "thesis chapter", "annual report", "exhibition catalogue"),
    ),
)

CHATTER: tuple[str, ...] = (
    "Slept badly, the street was loud.",
    "The new bakery on the corner sells good rye bread.",
    "It rained all day and the cellar got wet.",
    "Watched a documentary about octopuses.",
    "Ran 5 km in the park this morning.",
    "Ran 10 km in the park this morning.",
    "{o} called and talked about the wedding for an hour.",
    "Thinking about painting the hallway green.",
    "{o} recommended a book about the history of salt.",
    "How was your weekend?",
    "What do you think of the new neighbours?",
    "Good morning! Can you help me with something today?",
    "Thanks, that was really useful.",
    "The train was late again, twenty minutes this time.",
    "Bought tomatoes, basil and a loaf of bread.",
    "{o} started a new job in a bank.",
    "{o} moved into a house with a garden.",
    "{o} has a new phone.",
    "I lost my keys and found them in the fridge.",
    "There was a power cut in the evening, we lit candles.",
    "{o} is learning to juggle.",
    "The library has longer opening hours now.",
    "Fixed the dripping tap in the bathroom.",
    "{o} sent pictures of the baby.",
    "The printer at the office jams every day.",
    "Two of the tests failed on the build server, then passed.",
    "Had soup for lunch and a long nap after.",
    "My back hurts from gardening.",
    "{o} won a prize at the flower show.",
    "We talked about politics and changed the subject quickly.",
    "Is it going to snow tomorrow?",
    "Cleaned the windows, you can see the hills again.",
    "The concert was sold out, so we went to a pub.",
    "I finished the puzzle with a thousand pieces.",
    "{o} asked for the recipe of the lemon tart.",
)

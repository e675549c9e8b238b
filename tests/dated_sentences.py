"""Sentences with the one day that each names, said on Monday 2026-03-02 in Berlin, and sentences that name none."""

from datetime import date

RESOLVED = [
    ("en", "I fly tomorrow", date(2026, 3, 3)),
    ("en", "I fly the day after tomorrow", date(2026, 3, 4)),
    ("en", "I fly next Friday", date(2026, 3, 6)),
    ("en", "I fly next Tuesday", date(2026, 3, 10)),
    ("en", "I fly on Friday", date(2026, 3, 6)),
    ("en", "I flew last Friday", date(2026, 2, 27)),
    ("en", "I fly on Monday", date(2026, 3, 9)),
    ("en", "I fly in two weeks", date(2026, 3, 16)),
    ("en", "I fly in a month", date(2026, 4, 2)),
    ("en", "I flew 3 days ago", date(2026, 2, 27)),
    ("en", "I fly on 3 March", date(2026, 3, 3)),
    ("en", "I fly on March 3rd, 2027", date(2027, 3, 3)),
    ("en", "it is due on 1 February", date(2026, 2, 1)),
    ("en", "it is due on 15 October", date(2026, 10, 15)),
    ("en", "it is due 2026-04-30", date(2026, 4, 30)),
    ("en", "we launch next month", date(2026, 4, 1)),
    ("en", "we launch next week", date(2026, 3, 9)),
    ("de", "ich fliege übermorgen", date(2026, 3, 4)),
    ("de", "ich fliege am 14. März", date(2026, 3, 14)),
    ("de", "ich fliege nächsten Freitag", date(2026, 3, 6)),
    ("de", "ich fliege in zwei Wochen", date(2026, 3, 16)),
    ("fr", "je pars vendredi prochain", date(2026, 3, 6)),
    ("fr", "je pars le 14 mars", date(2026, 3, 14)),
    ("fr", "je pars dans deux semaines", date(2026, 3, 16)),
    ("es", "viajo el próximo viernes", date(2026, 3, 6)),
    ("es", "viajo el 14 de marzo", date(2026, 3, 14)),
    ("es", "viajo dentro de dos semanas", date(2026, 3, 16)),
]

NO_DATES = [
    "I may go",
    "every Friday we meet",
    "on Fridays we meet",
    "each Monday",
    "in a second",
    "on 31 February",
    "the sun is out",
    "2026-13-45",
    "I march on",
    "Tuesday mornings",
]

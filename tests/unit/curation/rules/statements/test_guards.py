"""Pairs that must stay two memories and pairs that may be merged, independently of their vectors."""

import pytest

from agents.curation.rules.statements.guards import objection
from agents.curation.rules.statements.uncertainty import doubt

APART = [
    # (guard, what is said now, what is known)
    ("numbers", "User has 3 cats", "User has 2 cats"),
    ("numbers", "User has three cats", "User has 2 cats"),
    ("numbers", "User's phone is a Pixel 8a", "User's phone is a Pixel 8"),
    ("numbers", "User's rent is 1,200 euros", "User's rent is 1,100 euros"),
    ("numbers", "The budget is $5.50 a day", "The budget is $5.00 a day"),
    ("numbers", "User has 2 dogs and 3 cats", "User has 3 dogs and 2 cats"),
    ("numbers", "User was born in 1987", "User was born in the eighties"),
    ("numbers", "Der Vertrag läuft zwei Jahre", "Der Vertrag läuft drei Jahre"),
    ("numbers", "El contrato dura dos años", "El contrato dura tres años"),
    ("numbers", "The meeting is on 2024-05-03", "The meeting is on 2024-05-04"),
    ("times", "User's birthday is in March", "User's birthday is in April"),
    ("times", "User plays tennis on Mondays and on Friday", "User plays tennis on Monday"),
    ("times", "User takes the medicine in the morning", "User takes the medicine in the evening"),
    ("times", "Das Treffen ist am Dienstag", "Das Treffen ist am Donnerstag"),
    ("times", "Le rendez-vous est lundi", "Le rendez-vous est jeudi"),
    ("negation", "User is not allergic to peanuts", "User is allergic to peanuts"),
    ("negation", "User is allergic to peanuts", "User isn't allergic to peanuts"),
    ("negation", "User never eats meat", "User eats meat"),
    ("negation", "User has no children", "User has children"),
    ("negation", "User takes coffee without sugar", "User takes coffee with sugar"),
    ("negation", "User does not drink coffee but drinks tea", "User does not drink tea but drinks coffee"),
    ("negation", "Der Nutzer isst kein Fleisch", "Der Nutzer isst Fleisch"),
    ("negation", "Der Nutzer ist nicht verheiratet", "Der Nutzer ist verheiratet"),
    ("negation", "L'utilisateur n'est pas végétarien", "L'utilisateur est végétarien"),
    ("negation", "L'utilisateur ne fume jamais", "L'utilisateur fume"),
    ("negation", "El usuario nunca come carne", "El usuario come carne"),
    ("negation", "El usuario no tiene hijos", "El usuario tiene hijos"),
    ("negation", "User failed to finish the marathon", "User finished the marathon"),
    ("negation", "User finished the marathon", "User failed to finish the marathon"),
    ("negation", "User pretends to like opera", "User likes opera"),
    ("negation", "User forgot to renew the passport", "User renewed the passport"),
    ("negation", "User denies having a dog", "User has a dog"),
    ("negation", "User declined to join the club", "User joined the club"),
    ("negation", "User neglected to pay the rent", "User paid the rent"),
    ("negation", "User never forgets birthdays", "User forgets birthdays"),
    ("negation", "User did not fail the exam", "User failed the exam"),
    ("negation", "Der Nutzer vergaß den Termin", "Der Nutzer kennt den Termin"),
    ("object", "User failed the exam", "User forgot the exam"),
    ("preference", "User hates coffee", "User loves coffee"),
    ("preference", "User dislikes mornings", "User enjoys mornings"),
    ("preference", "User avoids gluten", "User eats gluten"),
    ("preference", "L'utilisateur déteste le café", "L'utilisateur aime le café"),
    ("preference", "El usuario odia el café", "El usuario ama el café"),
    ("ended", "User no longer works at the bank", "User works at the bank"),
    ("ended", "User stopped smoking", "User is smoking"),
    ("ended", "User used to live by the sea", "User lives by the sea"),
    ("ended", "Der Nutzer raucht nicht mehr", "Der Nutzer raucht"),
    ("ended", "L'utilisateur ne fume plus", "L'utilisateur fume"),
    ("opposites", "User is married", "User is divorced"),
    ("opposites", "User wants detailed answers", "User wants concise answers"),
    ("opposites", "User wakes at 7 pm", "User wakes at 7am"),
    ("subject", "User's sister is vegetarian", "User is vegetarian"),
    ("subject", "User is vegetarian", "User's sister is vegetarian"),
    ("subject", "Anna likes climbing", "Bob likes climbing"),
    ("subject", "Anna likes climbing", "User likes climbing"),
    ("subject", "Die Schwester des Nutzers ist Ärztin", "Der Bruder des Nutzers ist Ärztin"),
    ("names", "User works at Google", "User works at Amazon"),
    ("names", "User moved from Berlin to Paris", "User moved from Paris to Berlin"),
    ("names", "User lives in São Paulo", "User lives in Rio"),
    ("names", "User speaks with Ädam", "User speaks with Étienne"),
    ("names", "User's blood type is A", "User's blood type is B"),
    ("names", "User's blood type is B", "User's blood type is A"),
    ("names", "User has plan A", "User has plan B"),
    ("names", "User takes vitamin D", "User takes vitamin E"),
    ("names", "User takes vitamin A", "User takes a vitamin"),
    ("names", "User got a grade A", "User got a grade D"),
    ("order", "User takes tea rather than coffee", "User takes coffee rather than tea"),
    ("order", "User prefers tea over coffee", "User prefers coffee over tea"),
    ("object", "User is allergic to peanuts", "User is allergic to walnuts"),
    ("object", "User likes hiking", "User likes climbing"),
    ("object", "User works as a nurse", "User works as a teacher"),
    ("object", "User prefers dark chocolate", "User prefers milk chocolate"),
    ("object", "User is reading a novel", "User is writing a novel"),
    ("object", "User rents a flat", "User sells a flat"),
    ("subject", "User's wife is a doctor", "User's mother is a doctor"),
    ("subject", "Tom lent the user 50 euros", "User lent Tom 50 euros"),
    ("subject", "Anna told the user about the trip", "User told Anna about the trip"),
    ("subject", "User is Priya's manager", "Priya is the user's manager"),
    ("order", "L'utilisateur préfère le thé au café", "L'utilisateur préfère le café au thé"),
    ("times", "User plays tennis on Mondays", "User plays tennis on Thursdays"),
    ("times", "Der Nutzer spielt montags Tennis", "Der Nutzer spielt donnerstags Tennis"),
    ("times", "User arrives on Monday and leaves on Friday", "User arrives on Friday and leaves on Monday"),
    ("opposites", "User took the train from Berlin", "User took the train to Berlin"),
    ("opposites", "All services log in JSON", "Some services log in JSON"),
    ("scope", "User eats only fish", "User eats fish"),
    ("scope", "User sometimes works at night", "User works at night"),
    ("scope", "User might move to Rome", "User moves to Rome"),
    ("scope", "Der Nutzer isst alles außer Fisch", "Der Nutzer isst alles und Fisch"),
    ("negation", "User seldom answers emails", "User answers emails"),
    ("wish", "User wants a house with a garden", "User has a house with a garden"),
    ("wish", "User plans to visit Japan", "User visited Japan"),
    ("wish", "Der Nutzer plant eine Reise", "Der Nutzer macht eine Reise"),
    ("tense", "User was a teacher", "User is a teacher"),
    ("tense", "User had a dog", "User has a dog"),
    ("subject", "User gave Anna a good book", "Anna gave the user a book"),
    ("numbers", "O usuário tem dois gatos", "O usuário tem três gatos"),
    ("numbers", "用户有两只猫", "用户有三只猫"),
    ("negation", "用户不喜欢咖啡", "用户喜欢咖啡"),
    ("negation", "Пользователь не ест мясо", "Пользователь ест мясо"),
    ("negation", "L'utente non mangia carne", "L'utente mangia carne"),
    ("negation", "O usuário não come carne", "O usuário come carne"),
    ("negation", "De gebruiker eet geen vlees", "De gebruiker eet vlees"),
    ("negation", "المستخدم لا يأكل اللحم", "المستخدم يأكل اللحم"),
    ("negation", "उपयोगकर्ता मांस नहीं खाता है", "उपयोगकर्ता मांस खाता है"),
    ("negation", "Brugeren spiser ikke kød", "Brugeren spiser kød"),
]

TOGETHER = [
    ("User's blood type is A", "The user has blood type A"),
    ("User forgot to renew a passport", "User forgot to renew the passport"),
    ("User and I play tennis", "User plays tennis"),
    ("User lives in Berlin", "The user lives in Berlin."),
    ("User is living in Berlin", "User lives in Berlin"),
    ("User has two cats", "User has 2 cats"),
    ("User's rent is 1200 euros", "User's rent is 1,200 euros"),
    ("User has cats", "User has 2 cats"),
    ("User does not like coffee", "User dislikes coffee"),
    ("User doesn't eat meat", "User never eats meat"),
    ("User no longer smokes", "User stopped smoking"),
    ("User enjoys hiking", "User likes hiking"),
    ("User likes mountain hikes", "User enjoys hiking in the mountains"),
    ("User works as a nurse", "User is employed as a nurse"),
    ("User lives in Berlin", "User lives in Berlin, Germany"),
    ("Der Nutzer isst kein Fleisch", "Der Nutzer isst niemals Fleisch"),
    ("User's sister lives in Rome", "User's sister is living in Rome"),
    ("User may travel for work", "User might travel for work"),
    ("He likes tea", "User likes tea"),
    ("The meeting is on Monday", "The meeting takes place on Monday"),
    ("User plays tennis on Mondays", "User plays tennis every Monday"),
    ("User plays on Friday and Monday", "User plays on Monday and Friday"),
    ("User wants short answers", "User prefers short answers"),
    ("User is a maths teacher", "User teaches maths"),
    ("User speaks German and French", "User speaks French and German"),
    ("Green is the user's favourite colour", "User's favourite colour is green"),
    ("User's mom is a physician", "User's mother is a doctor"),
    ("User is planning a trip", "User plans a trip"),
    ("Der Nutzer wohnt in Berlin", "Der Nutzer lebt in Berlin"),
    ("El usuario está aprendiendo japonés", "El usuario aprende japonés"),
    ("O usuário tem 2 gatos", "O usuário tem dois gatos"),
    ("用户很喜欢喝茶", "用户喜欢喝茶"),
]

UNCERTAIN = [
    # (doubt, what is said now, what is known)
    ("language", "Użytkownik bardzo lubi herbatę", "Użytkownik lubi herbatę"),  # no lists for Polish
    ("language", "Uživatel nemá psa", "Uživatel má psa"),
    ("language", "ユーザーは肉を食べません", "ユーザーは肉を食べます"),
    ("language", "用户住在上海", "用户住在北京"),
    ("language", "ผู้ใช้ไม่กินเนื้อ", "ผู้ใช้กินเนื้อ"),
    ("words", "User rents a flat in the centre of Vienna", "User bought a large flat in Vienna"),
    ("words", "User drives to work", "User takes the early bus to work"),
    ("relation", "User cooks for the family", "User cooks with the family"),
    ("compound", "User bought a laptop bag", "User bought a laptop"),
    ("compound", "User wants to visit Japan's embassy", "User wants to visit Japan"),
]


@pytest.mark.parametrize(("guard", "candidate", "memory"), APART)
def test_guards_object_to_texts_that_differ_in_meaning(guard: str, candidate: str, memory: str) -> None:
    assert objection(candidate, memory) == guard


@pytest.mark.parametrize(("candidate", "memory"), TOGETHER)
def test_guards_do_not_object_to_a_paraphrase(candidate: str, memory: str) -> None:
    assert objection(candidate, memory) is None


@pytest.mark.parametrize(("doubted", "candidate", "memory"), UNCERTAIN)
def test_doubt_is_reported_in_both_directions_where_guards_cannot_decide(
    doubted: str, candidate: str, memory: str
) -> None:
    assert doubt(candidate, memory) == doubt(memory, candidate) == doubted


@pytest.mark.parametrize(("candidate", "memory"), TOGETHER)
def test_no_doubt_is_reported_for_a_paraphrase(candidate: str, memory: str) -> None:
    assert doubt(candidate, memory) is None


def test_guards_allow_a_candidate_that_says_less_than_the_memory_but_not_one_that_says_more() -> None:
    short, long = "User runs 10 km", "User runs 10 km with Bob on Sunday"
    assert objection(short, long) is None
    assert objection(long, short) == "times"


@pytest.mark.parametrize("text", ["", "?!", "🙂", "日本語のテキスト", "عربي", "x" * 5_000, "User\x00likes\ufffdtea"])
def test_guards_do_not_object_to_any_text_compared_with_itself(text: str) -> None:
    assert objection(text, text) is None

"""Texts of the panel are complete in each language, and no view mixes languages."""

import re
from typing import Any

import pytest
from playwright.async_api import expect

from deploy.wiring.erasure import OVERWRITTEN, TOPIC_CONTENTS
from streams.windows.context.statistics import STRATEGIES
from streams.windows.pruning.reasons import SENTENCES
from tests.api import a_memory
from tests.integration.panel.panel import Panel
from tests.integration.panel.populated_api import PopulatedApi
from tests.integration.panel.views import SOURCES, listed, views

PLACES = ("i18n", "operations/texts")
LEAST_LETTERS = 4
GAP = re.compile(r"\{\{(\w+)(?::[^}]*)?\}\}")  # of a value, or of words for one or many of it
# Every text that is shown or said: of elements, and of the attributes that are read out.
SHOWN = """() => [
    ...[...document.querySelectorAll("body *")].flatMap((each) => [...each.childNodes])
        .filter((each) => each.nodeType === Node.TEXT_NODE).map((each) => each.data),
    ...[...document.querySelectorAll("[aria-label], [title], [placeholder]")]
        .flatMap((each) => [each.ariaLabel, each.title, each.placeholder]),
].filter(Boolean).map((each) => each.trim())"""


def catalogue(language: str) -> dict[str, str]:
    """Texts by their sections and keys, of both places where texts are."""
    found = {}
    for place in PLACES:
        section = ""
        for token in re.finditer(
            r'^  (\w+): \{|(\w+|"[^"]+"): "((?:[^"\\]|\\.)*)"', source(place, language), re.MULTILINE
        ):
            section = token[1] or section
            if token[2]:
                found[f"{place} {section}.{token[2]}"] = token[3]
    return found


def source(place: str, language: str) -> str:
    return (SOURCES / place / f"{language}.ts").read_text()


def languages() -> set[str]:
    return {path.stem for path in (SOURCES / PLACES[0]).glob("*.ts")} - {"index"}


def test_every_language_has_every_text_with_the_same_placeholders():
    english = catalogue("en")
    assert len(english) > 300
    assert languages() > {"en"}
    for language in languages() - {"en"}:
        other = catalogue(language)
        assert other.keys() == english.keys()
        assert {key: gaps(text) for key, text in other.items()} == {key: gaps(text) for key, text in english.items()}


def test_english_panel_texts_equal_the_server_texts_for_each_code():
    english = catalogue("en")
    assert {key: text for key, text in english.items() if key.startswith("i18n reason.")} == {
        f"i18n reason.{reason}": said for reason, said in SENTENCES.items()
    }
    for code, said in (*TOPIC_CONTENTS.values(), OVERWRITTEN):
        assert english[f"i18n remains.{code}"] == said
    for strategy, said in STRATEGIES.items():
        assert english[f"i18n rule.{strategy}"] == said


def gaps(text: str) -> list[str]:
    return sorted(set(GAP.findall(text)))


def test_no_source_file_contains_hard_coded_text():
    """Between tags, or in an attribute that is read out."""
    of_its_own = re.compile(r'>\s*[A-Z][a-z]+(?: [a-z]+)*[.!?]?\s*</|(?:aria-label|title|placeholder)="[^"]{3,}"')
    found = {path.name: of_its_own.findall(path.read_text()) for path in SOURCES.rglob("*.tsx")}
    assert {name: texts for name, texts in found.items() if texts} == {"MakeKey.tsx": ['placeholder="app/*"']}


async def test_no_english_text_stands_in_a_german_view(panel_of_everything: Panel, shown: PopulatedApi):
    german = set(catalogue("de").values())
    english = [each for each in set(catalogue("en").values()) - german if is_telling(each)]
    pattern = re.compile("|".join(f"(?:{as_pattern(each)})" for each in english))
    context: dict[str, Any] = {"locale": "de-DE"}
    tab = await panel_of_everything.open_tab(panel_of_everything.address, **context)
    await tab.go("/memories", ns="app%2Fada")
    await tab.page.get_by_label("Schlüssel", exact=True).fill(shown.api.keys.add(admin="*"))
    await tab.page.keyboard.press("Enter")
    untranslated = {}
    for view in (each for each in views(shown) if not each.press and each.name in listed()):
        await tab.page.goto(f"{tab.address}/#{view.address()}")
        await tab.page.locator(re.sub(r"\[aria-label=[^]]*\] ", "", view.shows)).first.wait_for()
        await tab.requires("!document.querySelector('.skeleton')")
        untranslated[view.name] = [text for text in await tab.page.evaluate(SHOWN) if pattern.fullmatch(text)]
    assert {name: each for name, each in untranslated.items() if each} == {}


def is_telling(text: str) -> bool:
    """Neither so little beside its gaps that anything is like it, nor a name that policies and topics have, too."""
    return len(re.sub(r"\W", "", GAP.sub("", text))) >= LEAST_LETTERS and not re.fullmatch("[a-z]+", text)


def as_pattern(text: str) -> str:
    return r"\s*.+\s*".join(re.escape(part) for part in re.split(r"\{\{[^}]+\}\}", text))


@pytest.mark.parametrize(
    ("locale", "key", "texts"),
    [("en-GB", "Key", ["1 memory", "2 memories"]), ("de-DE", "Schlüssel", ["1 Erinnerung", "2 Erinnerungen"])],
)
async def test_a_count_of_one_uses_the_singular(panel: Panel, locale: str, key: str, texts: list[str]):
    tab = await panel.open_tab(panel.address, locale=locale)
    await tab.go("/memories", ns="app%2Fada")
    await tab.page.get_by_label(key, exact=True).fill(panel.api.keys.add(read="app/*"))
    await tab.page.keyboard.press("Enter")
    await tab.page.get_by_role("navigation").first.wait_for()
    for count, summary in enumerate(texts, 1):
        panel.api.memories.put(a_memory(f"m{count}"))
        await tab.page.reload()
        await expect(tab.page.locator(".summary")).to_have_text(summary)

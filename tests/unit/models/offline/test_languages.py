"""The language of short sentences, as notes and summaries have them."""

import pytest

from agents.models.offline.rules.engine.languages import language_of

SENTENCES = {
    "fr": (
        "Commande expédiée lundi matin.",
        "Aucune réponse du fournisseur.",
        "Cliquez sur Options, puis sur Export.",
        "Décision: version 2 en production vendredi.",
        "Erreur corrigée, tout fonctionne.",
        "Livraison prévue mercredi.",
    ),
    "de": (
        "Bestellung am Montag verschickt.",
        "Rechnung bezahlt, vielen Dank.",
        "Alles klar, perfekt.",
        "Lieferung für Mittwoch geplant.",
    ),
    "es": (
        "De acuerdo, perfecto.",
        "Reinicie el router e inténtelo otra vez.",
        "El servidor se reinicia cada noche.",
    ),
    "en": (
        "Order shipped Monday morning.",
        "Works now.",
        "No mayo on the burger.",
        "I love Big Sur.",
        "Final choice: Kafka.",
    ),
}


@pytest.mark.parametrize(
    ("code", "sentence"), [(code, each) for code, sentences in SENTENCES.items() for each in sentences]
)
def test_a_short_sentence_is_read_in_its_language(code: str, sentence: str) -> None:
    assert language_of(sentence) == code

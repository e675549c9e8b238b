"""A wish for a theme ("everything about my health") selects its memories in four languages, and no memories of other matters."""

import pytest

from agents.curation.rules.commands.topics import is_about
from tests.builders.memories import a_memory

SELECTED = {
    "my health": """
        User's blood group is 0 negative.
        User's blood pressure is high.
        User takes 20 mg of atorvastatin every evening.
        User got a flu shot on 2026-10-03.
        User is expecting a baby in May.
        User was diagnosed with ADHD.
        User sees a psychologist every week.
        User's cardiologist is Dr. Meyer.
        User wears a hearing aid.
        User has pain in the left knee.
        User weighs 71 kilos.
        Der Nutzer wiegt 82 kg.
        User has a cat allergy.
        User has an immune disease.
        User sees a physiotherapist every week.
        User works at Bosch and has asthma.
        L'utilisateur a mal au dos.
        Die Blutgruppe der Nutzerin ist 0 negativ.
        Der Nutzer hat Rückenschmerzen.
        Der Nutzer ist gegen Tetanus geimpft.
        Der Nutzer hat eine Schwerbehinderung.
        Der Nutzer macht Physiotherapie.
        Le groupe sanguin de l'utilisateur est 0 négatif.
        L'utilisateur est vacciné contre le tétanos.
        L'utilisatrice est enceinte de trois mois.
        El grupo sanguíneo del usuario es 0 negativo.
        El usuario toma pastillas para dormir.
        El usuario tiene una discapacidad.
        """,
    "my job": """
        User works at Siemens as a nurse.
        User is a pilot.
        User's boss is Eva.
        User's team lead is Anna.
        User was laid off in March.
        User is unemployed.
        User has a job interview on 2026-12-02.
        Der Nutzer hat Schichtdienst.
        Die Vorgesetzte der Nutzerin ist Anna.
        L'utilisateur a démissionné.
        L'utilisateur est au chômage.
        El usuario fue despedido.
        User works as a painter.
        User works from home.
        User has a new job.
        Der Chef des Nutzers heißt Eva.
        """,
    "my family": """
        User has two kids.
        User's nephew Tom is a pilot.
        User's in-laws live in York.
        User's twins are five.
        User's stepson is 12.
        Die Großmutter des Nutzers ist krank.
        Die Nichte der Nutzerin heißt Ida.
        Le neveu de l'utilisateur s'appelle Tom.
        La grand-mère de l'utilisateur est morte.
        La abuela del usuario vive en Lima.
        La prima del usuario se llama Ida.
        User's mother Ida is 80.
        User's older brother lives in York.
        Marta's mother is ill.
        User has a big family in Peru.
        Die Frau des Nutzers heißt Eva.
        Der Nutzer ist mit seiner Frau in Rom.
        La femme de l'utilisateur s'appelle Eva.
        L'utilisateur a une fille.
        El usuario tiene dos hermanos.
        """,
    "my finances": """
        User earns 60,000 euros a year.
        User's credit card is from ING.
        User owns shares of Apple.
        User has a pension plan.
        User pays taxes in Spain.
        Der Nutzer hat Aktien.
        Der Nutzer hat 5.000 Euro gespart.
        L'utilisateur a des économies.
        L'utilisateur paie 900 euros de loyer.
        El usuario tiene ahorros.
        El usuario tiene deudas.
        User's bank is ING.
        User pays 900 euros rent.
        User's rent is 900.
        L'utilisateur a un compte en banque.
        El usuario gana 2000 euros.
        """,
    "my home": """
        User lives in Berlin.
        Marta moved to Lyon.
        User's flat is on the third floor.
        User bought a house in York.
        User's landlord is Mr. Gray.
        Die Wohnung des Nutzers ist im dritten Stock.
        Der Nutzer ist nach Ulm umgezogen.
        L'appartement de l'utilisateur est au troisième étage.
        Le propriétaire de l'utilisateur s'appelle Paul.
        El piso del usuario está en la tercera planta.
        El usuario se mudó a Lima.
        User's address is 5 Main Street.
        User lives with his wife.
        User bought a house.
        Die Adresse des Nutzers ist Ring 5.
        La dirección del usuario es Calle Mayor 5.
        """,
    "my eating habits": """
        User is vegetarian.
        User does not eat meat.
        User eats breakfast at six.
        User drinks no alcohol.
        Der Nutzer trinkt keinen Alkohol.
        L'utilisateur suit un régime.
        Marta eats no pork.
        User avoids gluten.
        User eats gluten-free bread.
        Der Nutzer isst kein Fleisch.
        L'utilisateur ne mange pas de viande.
        El usuario no come carne.
        El usuario es vegetariano.
        """,
}
SPARED = {
    "my health": """
        User paints watercolours.
        User bakes sourdough bread every Sunday.
        L'utilisateur fait son pain lui-même.
        User has a doctorate in physics.
        User is a doctor.
        Der Nutzer ist Arzt.
        El usuario trabaja de médico.
        User works in a hospital.
        User bought a tablet from Samsung.
        User needs a new pillow.
        User is expecting a parcel.
        User's daughter has asthma.
        Marta's daughter has asthma.
        User works as a physiotherapist.
        User is a psychologist.
        User is training to be a psychologist.
        User works at the clinic in Leeds.
        Die Nutzerin ist Zahnärztin.
        Der Nutzer arbeitet als Physiotherapeut.
        L'utilisateur travaille comme psychologue.
        L'utilisatrice est kinésithérapeute.
        La usuaria es psicóloga.
        El usuario trabaja en el hospital.
        User is a nurse in the hospital.
        User has a cat with diabetes.
        User has two cats with diabetes.
        User's wife's asthma is bad.
        User is caring for his father, who has dementia.
        User weighs the flour on a kitchen scale.
        Der Nutzer wiegt Pakete ab.
        L'utilisateur pèse ses mots.
        El usuario pesa la harina.
        El usuario usa pastillas de freno nuevas.
        L'utilisateur a du mal au travail.
        User writes about immunity from prosecution.
        """,
    "my job": """
        User attends a pottery workshop.
        User is in good company.
        User went to an international school.
        User's wife works at Bosch.
        Marta's wife works at Bosch.
        Der Nutzer hat an der Meinung festgehalten.
        User's dishwasher works again.
        User works out at the gym.
        User runs a cron job every night.
        User shifts gears by hand.
        Der Nutzer kündigt das Netflix-Abo.
        L'utilisateur a un bureau en chêne.
        El usuario renunció al azúcar.
        """,
    "my family": """
        User is kind.
        User got a grand piano.
        User bought a motherboard.
        L'utilisateur aime son chien.
        Los colores favoritos del usuario son rojo y azul.
        User lives in Mannheim.
        User's mother tongue is Polish.
        User watches Twin Peaks.
        User likes the film The Godfather.
        User uses a parent class in Java.
        Der Arzt des Nutzers ist Frau Dr. Weber.
        Der Nutzer liest gern Thomas Mann.
        El usuario cobra la prima del seguro.
        """,
    "my finances": """
        User flies to Argentina in June.
        User works as an investigator.
        User has a European passport.
        L'utilisateur est prêt à partir.
        El usuario tiene ganas de viajar.
        User lives near the river bank.
        User lost 10 pounds.
        User is a tax adviser.
        User studies cryptography.
        User has inheritance bugs in Java.
        User inherited blue eyes.
        User cares about animal welfare.
        User cooks vegetable stocks.
        Der Nutzer sitzt gern auf der Bank im Park.
        Der Nutzer hat ein Instagram-Konto.
        L'utilisateur porte une bague en argent.
        El usuario gana al ajedrez.
        """,
    "my home": """
        User lives for music.
        User moved the meeting to May.
        User's dentist appointment was moved to Thursday.
        User has a flat tyre.
        User wants to be addressed formally.
        User asks to be addressed with 'they'.
        User's email address is a@b.c.
        User's IP address is 10.0.0.1.
        User lives with ADHD.
        User bought a house plant.
        Die E-Mail-Adresse des Nutzers ist a@b.de.
        Dem Nutzer wurde ein Zahn gezogen.
        L'utilisateur loue une voiture.
        El usuario come comida casera.
        """,
    "my eating habits": """
        User had lunch with Olga.
        User lives in Berlin.
        User meets Ana for dinner on Friday.
        User cleans with alcohol.
        User's Python script eats memory.
        L'utilisateur critique le régime politique.
        """,
    "my mental health": """
        User is allergic to peanuts.
        User has a broken leg.
        """,
    "my siblings": """
        User's wife is called Ana.
        User's mother has cancer.
        """,
    "mis hermanos": """
        User's daughter Mia is six.
        """,
    "my savings": """
        User earns 60,000 euros a year.
        User pays 900 euros rent.
        """,
}


def listed(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(topic, text.strip()) for topic, texts in table.items() for text in texts.strip().splitlines()]


@pytest.mark.parametrize(("topic", "text"), listed(SELECTED))
def test_a_theme_selects_what_a_person_would_expect_to_be_forgotten_with_it(topic: str, text: str) -> None:
    assert is_about(a_memory(text), topic)


@pytest.mark.parametrize(("topic", "text"), listed(SPARED))
def test_a_theme_spares_memories_of_other_matters_and_other_people(topic: str, text: str) -> None:
    assert not is_about(a_memory(text), topic)

"""Synonyms in memories about people. The list is short, because a wrong synonym merges two facts."""

GROUPS = """
mother mom mum mommy mama
father dad daddy papa
mother mutter mère madre
father vater père padre
wife frau femme esposa
husband mann mari esposo
brother bruder frère hermano
sister schwester sœur hermana
daughter tochter fille hija
son sohn fils hijo
dog hund chien perro
cat katze gato
child children kid kids
grandmother grandma granny
grandfather grandpa
doctor physician
live lives living reside resides residing
work works working employed
answer answers reply replies response responses
scheduled planned
begin begins began begun start starts started
buy buys bought purchase purchases purchased
use uses used using utilise utilises utilize utilizes
need needs require requires
choose chooses chose chosen decide decides decided pick picks picked
finish finishes finished complete completes completed
quit quits stopped stops
car automobile
bicycle bike
apartment flat
holiday holidays vacation vacations
company firm
movie movies film films
trouble difficulty difficulties
big large
quick fast rapid
allergic allergy allergies
interested interest
called named
addressed called
find finds found think thinks consider considers
attend attends attending go goes
job occupation profession
photo photos picture pictures photograph photographs
phone mobile smartphone
shop store
lawyer attorney
tv television
trip journey
illness disease sickness
medicine medication medications meds
ill sick
happy glad
clever smart intelligent
hard difficult
tired exhausted
rich wealthy
speak speaks talk talks
repair repairs repaired fix fixes fixed
help helps assist assists
allow allows permit permits
delete deletes deleted remove removes removed
change changes changed modify modifies modified alter alters altered
salary wage wages pay
film movie
near close
afraid fear scared
mutter mama mami
vater papa papi
arzt ärztin doktor doktorin
wohnt wohnen wohne lebt leben lebe
auto wagen
urlaub ferien
fahrrad rad
beginnt beginnen fängt anfangen
nutzt nutzen benutzt benutzen verwendet verwenden
allergisch allergie
mère maman
père papa
médecin docteur
habite habiter vit vivre réside
voiture auto
vélo bicyclette
commence commencer débute débuter
utilise utiliser emploie
allergique allergie allergies
madre mamá
padre papá
médico doctor
vive vivir reside residir
coche carro auto
móvil celular
ordenador computadora
piso apartamento departamento
bici bicicleta
empieza empezar comienza comenzar
usa usar utiliza utilizar
alérgico alérgica alergia
mora vive reside
raucht rauchen
trinkt trinken
spielt spielen
lernt lernen
fume fumer
boit boire
joue jouer
mange manger
travaille travailler
fuma fumar
bebe beber
juega jugar
come comer
trabaja trabajar
toca tocar
vive abita risiede
"""

"""Words in column names that hint at a role."""

from __future__ import annotations

import re
import unicodedata

# fmt: off
SENSITIVE_WORDS = (
    "diagnosis", "diagnoses", "diag", "diagnose", "diagnosen", "diagnostic", "diagnostics",
    "diagnostico", "diagnosticos", "diagnosi", "disease", "illness", "krankheit", "erkrankung",
    "maladie", "enfermedad", "ziekte", "malattia", "disorder", "icd", "hiv",
    "condition", "symptom", "treatment", "behandlung", "traitement", "tratamiento", "medication",
    "medikament", "drug", "disability", "behinderung", "handicap", "discapacidad", "addiction",
    "pregnancy", "religion", "konfession", "faith", "political", "politics", "party", "partei",
    "partido", "vote", "orientation", "sexuality", "crime", "straftat", "delit", "delito",
    "offence", "offense", "conviction", "income", "einkommen", "revenu", "revenus", "ingresos",
    "inkomen", "reddito", "salary", "gehalt", "salaire", "salario", "stipendio", "wage", "lohn",
    "earnings", "debt", "schulden", "dette", "dettes", "deuda",
)
"""What people keep to themselves, strongest first: the first that fits is proposed."""
ILLNESS_WORDS = frozenset({
    "diabetes", "diabetic", "asthma", "copd", "cancer", "tumor", "tumour", "kidney", "renal",
    "liver", "heart", "cardiac", "coronary", "angina", "stroke", "hypertension", "obesity",
    "obese", "hiv", "aids", "hepatitis", "tuberculosis", "epilepsy", "depression", "anxiety",
    "bipolar", "dementia", "arthritis", "pneumonia", "immunosuppression", "immunosuppressed",
    "anemia", "anaemia", "migraine", "infertility", "abortion", "pregnant", "pregnancy",
    "smoker", "smoking", "alcohol", "drugs", "addiction", "disabled", "disability",
    "krebs", "herzinfarkt", "schlaganfall", "schwanger", "raucher", "alkohol", "diabete",
    "infarctus", "enceinte", "fumeur", "alcool", "infarto", "embarazo", "fumador",
})
"""Illnesses and what else is asked with yes and no, and kept to oneself."""
ILLNESS_ENDINGS = ("itis", "osis", "emia", "aemia", "pathy", "oma")
NOMINAL_WORDS = frozenset({
    "id", "code", "type", "kind", "category", "class", "status", "group", "region", "state",
    "county", "district", "province", "country", "zone", "zip", "zipcode", "postcode", "postal",
    "plz", "sex", "gender", "race", "ethnicity", "occupation", "job", "industry", "marital",
    "insurance", "payer", "relationship", "religion", "language", "source", "disposition",
    "geschlecht", "beruf", "bundesland", "land", "kreis", "familienstand", "postleitzahl",
    "sexe", "genre", "metier", "departement", "pays", "commune", "sexo", "genero", "profesion",
    "provincia", "municipio", "pais", "geslacht", "beroep", "sesso", "professione",
})
"""What has no order, even if it is written in numbers."""
QI_WORDS = frozenset({
    "age", "sex", "gender", "birth", "birthdate", "birthday", "dob", "born", "zip", "zipcode",
    "postcode", "postal", "plz", "city", "town", "county", "state", "region", "province",
    "district", "country", "nationality", "citizenship", "race", "ethnicity", "ethnic",
    "marital", "married", "relationship", "occupation", "profession", "job", "workclass",
    "employer", "employment", "industry", "education", "school", "degree", "language",
    "children", "household", "height", "weight", "insurance", "payer", "admission",
    "discharge",
    "alter", "geschlecht", "geburtsdatum", "geburtsjahr", "geburtstag", "geboren",
    "postleitzahl", "wohnort", "ort", "stadt", "kreis", "landkreis", "bundesland", "land",
    "staatsangehorigkeit", "staatsangehoerigkeit", "nationalitat", "nationalitaet", "herkunft",
    "familienstand", "beruf", "branche", "arbeitgeber", "ausbildung", "bildung", "schulabschluss",
    "abschluss", "sprache", "kinder", "haushalt", "gewicht", "versicherung", "krankenkasse",
    "sexe", "genre", "naissance", "ville", "commune", "departement", "pays", "nationalite",
    "matrimonial", "matrimoniale", "civil", "metier", "emploi", "employeur", "etudes", "diplome",
    "langue", "enfants", "taille", "poids", "assurance",
    "edad", "sexo", "genero", "nacimiento", "ciudad", "municipio", "provincia", "pais",
    "nacionalidad", "profesion", "ocupacion", "oficio", "empleo", "educacion", "estudios",
    "idioma", "hijos", "altura", "peso", "seguro",
    "leeftijd", "geslacht", "woonplaats", "beroep", "nationaliteit", "opleiding",
    "eta", "sesso", "citta", "comune", "professione", "nazionalita", "istruzione",
})
"""What outsiders can know of a person."""
NAMING_WORDS = frozenset({
    "name", "firstname", "lastname", "surname", "forename", "fullname", "email", "mail",
    "phone", "telephone", "mobile", "fax", "ssn", "passport", "iban", "address", "street",
    "vorname", "nachname", "familienname", "telefon", "handy", "adresse", "anschrift", "strasse",
    "nom", "prenom", "courriel", "rue", "apellido", "apellidos", "correo", "telefono",
    "direccion", "calle", "naam", "voornaam", "achternaam", "nome", "cognome", "indirizzo",
})
"""What names or reaches a person directly."""
NUMBERING_WORDS = frozenset({
    "id", "uid", "uuid", "guid", "key", "nbr", "no", "mrn", "number", "patient", "person",
    "customer", "client", "member", "account", "record", "encounter",
    "nummer", "kennung", "kunde", "fall", "fallnummer", "patientennummer", "numero", "dossier",
    "paciente", "cliente", "expediente",
})
"""What numbers people, if it has enough values for that."""
WEIGHING_WORDS = frozenset({
    "wt", "wgt", "wght", "fnlwgt", "pweight", "dweight", "pspwght", "anweight", "perwt", "hhwt",
    "wtfinl", "finalwt", "weighting", "gewichtung", "gewichtungsfaktor", "hochrechnungsfaktor",
    "ponderation", "ponderacion", "factor", "elevacion",
})
"""What says how many people of the population a row of a sample stands for."""
SAMPLING_WORDS = frozenset({
    "survey", "sample", "sampling", "design", "final", "person", "household", "post", "calibrated",
    "calibration", "population", "normalized", "normalised",
})
"""What makes a weight one of these, and not what people weigh."""
COUNTING_WORDS = frozenset({"number", "num", "count", "no", "anzahl", "nombre", "numero"})
"""What counts something, so that it is not the thing itself."""
CODE_WORDS = frozenset({"id", "code"})
"""What makes numbers mere codes, which have no bands."""
# fmt: on


def words_of(name: str) -> set[str]:
    """The words of a column name without accents: `birthDate`, `birth-date` and `BIRTH_DATE` are
    the same, as are `âge` and `AGE`."""
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    letters = "".join(sign for sign in plain if not unicodedata.combining(sign))
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", letters)
    return {part.lower() for part in parts}


def illness_in(words: set[str]) -> str | None:
    """The word of some that says an illness."""
    for word in sorted(words):
        if word in ILLNESS_WORDS or word.endswith(ILLNESS_ENDINGS):
            return word
    return None

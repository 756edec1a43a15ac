"""Words in column names that hint at a role."""

from __future__ import annotations

import re

# fmt: off
SENSITIVE_WORDS = (
    "diagnosis", "diagnoses", "diag", "disease", "illness", "disorder", "icd", "hiv",
    "condition", "symptom", "treatment", "medication", "drug", "disability", "addiction",
    "pregnancy", "religion", "faith", "political", "politics", "party", "vote", "orientation",
    "sexuality", "crime", "offence", "offense", "conviction", "income", "salary", "wage",
    "earnings", "debt",
)
"""What people keep to themselves, strongest first: the first that fits is proposed."""
ILLNESS_WORDS = frozenset({
    "diabetes", "diabetic", "asthma", "copd", "cancer", "tumor", "tumour", "kidney", "renal",
    "liver", "heart", "cardiac", "coronary", "angina", "stroke", "hypertension", "obesity",
    "obese", "hiv", "aids", "hepatitis", "tuberculosis", "epilepsy", "depression", "anxiety",
    "bipolar", "dementia", "arthritis", "pneumonia", "immunosuppression", "immunosuppressed",
    "anemia", "anaemia", "migraine", "infertility", "abortion", "pregnant", "pregnancy",
    "smoker", "smoking", "alcohol", "drugs", "addiction", "disabled", "disability",
})
"""Illnesses and what else is asked with yes and no, and kept to oneself."""
ILLNESS_ENDINGS = ("itis", "osis", "emia", "aemia", "pathy", "oma")
NOMINAL_WORDS = frozenset({
    "id", "code", "type", "kind", "category", "class", "status", "group", "region", "state",
    "county", "district", "province", "country", "zone", "zip", "zipcode", "postcode", "postal",
    "plz", "sex", "gender", "race", "ethnicity", "occupation", "job", "industry", "marital",
    "insurance", "payer", "relationship", "religion", "language", "source", "disposition",
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
})
"""What outsiders can know of a person."""
NAMING_WORDS = frozenset({
    "name", "firstname", "lastname", "surname", "forename", "fullname", "email", "mail",
    "phone", "telephone", "mobile", "fax", "ssn", "passport", "iban", "address", "street",
})
"""What names or reaches a person directly."""
NUMBERING_WORDS = frozenset({
    "id", "uid", "uuid", "guid", "key", "nbr", "no", "mrn", "number", "patient", "person",
    "customer", "client", "member", "account", "record", "encounter",
})
"""What numbers people, if it has enough values for that."""
COUNTING_WORDS = frozenset({"number", "num", "count", "no"})
"""What counts something, so that it is not the thing itself."""
CODE_WORDS = frozenset({"id", "code"})
"""What makes numbers mere codes, which have no bands."""
# fmt: on


def words_of(name: str) -> set[str]:
    """The words of a column name: `birthDate`, `birth-date` and `BIRTH_DATE` are the same."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
    return {part.lower() for part in parts}


def illness_in(name: str) -> str | None:
    """The word in a column name that says an illness."""
    for word in sorted(words_of(name)):
        if word in ILLNESS_WORDS or word.endswith(ILLNESS_ENDINGS):
            return word
    return None

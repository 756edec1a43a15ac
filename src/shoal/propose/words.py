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

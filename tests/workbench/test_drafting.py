"""Roles in a draft."""

from __future__ import annotations

from shoal.workbench import drafting

DRAFT = {"qi": ["sex", "w"], "sensitive": "ill", "weight": "w"}
COLUMNS = ("sex", "w", "ill", "who")


def test_a_survey_weight_is_published_where_it_is_a_qi_too() -> None:
    roles = {name: drafting.role_of(DRAFT, name) for name in COLUMNS}
    assert roles == {"sex": "qi", "w": "qi-weight", "ill": "sensitive", "who": "unpublished"}
    assert drafting.with_roles(DRAFT, roles) == DRAFT
    alone = drafting.with_roles(DRAFT, roles | {"w": "weight"})
    assert alone == {"qi": ["sex"], "sensitive": "ill", "weight": "w"}
    assert drafting.role_of(alone, "w") == "weight"
    assert "weight" not in drafting.with_roles(DRAFT, roles | {"w": "qi"})
    assert not drafting.fits(alone, ["sex", "ill"])
    assert drafting.fits(alone, COLUMNS)

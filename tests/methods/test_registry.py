"""The registry: shoal's own methods, methods of a program, and what their parameters mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.metadata import EntryPoint

import pytest

from shoal.declared import Parameter
from shoal.errors import InputError
from shoal.methods import registry


@dataclass(frozen=True)
class Nothing:
    """Groups nobody."""

    name = "nothing"
    k: int = 3
    """How little."""

    def anonymize(self) -> None: ...


def test_every_own_method_has_its_name_and_a_text_for_each_parameter() -> None:
    for name in registry.method_names():
        assert registry.method_class(name).name == name
        for parameter in registry.parameters_of(name):
            assert parameter.help.endswith("."), f"{name}: {parameter.name}"


def test_a_program_can_add_a_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry._METHODS, "added", {})
    registry.register(Nothing)
    assert registry.method_names()[-1] == "nothing"
    assert registry.make_method("nothing", {"k": 4}) == Nothing(4)
    assert registry.parameters_of("nothing") == (Parameter("k", "int", 3, "How little."),)


def test_a_package_can_add_a_method(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("nothing", f"{__name__}:Nothing", registry._METHODS.group)
    monkeypatch.setattr("shoal.registry.entry_points", lambda group: [point])
    monkeypatch.setattr(EntryPoint, "load", lambda _: Nothing)
    assert registry.make_method("nothing") == Nothing()


@pytest.mark.parametrize(
    ("given", "told"),
    [(dict, "is no method"), (type("Art", (Nothing,), {"name": "art"}), "shoal has a method")],
)
def test_what_is_no_method_is_refused(given: type, told: str) -> None:
    with pytest.raises(InputError, match=re.escape(told)):
        registry.register(given)


@pytest.mark.parametrize("given", [{"units": "cells"}, {"units": "rows"}, {"cover": 0.5}])
def test_a_parameter_that_is_gone_gets_a_sentence_of_its_own(given: dict[str, object]) -> None:
    with pytest.raises(InputError) as raised:
        registry.make_method("art", given)
    assert str(raised.value) == (
        f'The method "art" has no parameter "{next(iter(given))}" any more: its groups are always '
        'made of cells. Leave it out; condition="bound" is the reference that grows groups row by '
        "row."
    )


def test_of_what_is_gone_an_earlier_certificate_may_say_what_is_always_done() -> None:
    usual = {"cell": 4, "units": "cells", "cover": None}
    assert registry.present_parameters("art", usual) == {"cell": 4}
    other = {"units": "rows", "cover": 0.5}
    assert registry.present_parameters("art", other) == other
    assert registry.present_parameters("anatomy", usual) == usual

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

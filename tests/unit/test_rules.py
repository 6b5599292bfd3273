import pytest

from kernelmean.core import Rules


class Base: ...


class Child(Base): ...


class Grandchild(Child): ...


def test_the_nearest_rule_wins_whatever_the_order_of_registration():
    for order in (1, -1):
        rules = Rules("test")
        for signature in [(Base, Base), (Child, Base), (Base, Child)][::order]:
            rules.register(*signature)(lambda *_, s=signature: s)
        assert rules.find(Grandchild(), Base())() == (Child, Base)
        assert rules.find(Base(), Grandchild())() == (Base, Child)
        assert rules.find(Child(), Grandchild())() == (Child, Base)
        assert rules.find(Base(), 1) is None


def test_registering_twice_is_an_error():
    rules = Rules("test")
    rules.register(Base)(lambda: None)
    with pytest.raises(ValueError, match=r"test\(Base\)"):
        rules.register(Base)(lambda: None)

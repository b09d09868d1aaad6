# SPDX-License-Identifier: Apache-2.0
"""Register names in Python, and words packed from fields."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anemone.hardware import registers
from anemone.hardware.fields import Field, Register
from anemone.telemetry.rules import EFFECTS, OPERANDS, OPS, PREDICATES, WIDTHS


@given(st.data())
def test_unpack_is_the_inverse_of_pack(data: st.DataObject) -> None:
    everything = [value for value in vars(registers).values() if isinstance(value, Register)]
    register = data.draw(st.sampled_from(everything))
    values = {
        name: data.draw(st.integers(0, (1 << field.width) - 1))
        for name, field in register.fields.items()
    }
    word = register.pack(**values)
    assert word < 1 << 64
    assert register.unpack(word) == values


def test_a_value_that_does_not_fit_is_refused() -> None:
    assert Field(8, 2).put(3) == 0x300
    for value in (4, -1):
        with pytest.raises(ValueError, match="2 bits"):
            Field(8, 2).put(value)
    with pytest.raises(KeyError):
        registers.RULE_CONTROL.pack(no_such_field=1)


def test_blocks_are_where_the_map_says() -> None:
    assert registers.PIPELINE.at(31, registers.PIPELINE_STATUS) == 0x2F38
    assert registers.TABLE.at(5) == 0x200028
    for index in (-1, 32):
        with pytest.raises(IndexError):
            registers.PIPELINE.at(index)


def test_codes_are_the_rule_files() -> None:
    """A name's position in the lists for rule files is its code."""
    assert [op.name.lower() for op in registers.UpdateOp] == list(OPS)
    assert [1 << (3 + width) for width in registers.CounterWidth] == list(WIDTHS)
    assert len(registers.OperandSource) == len(OPERANDS)
    predicates = "NONE EQUAL GREATER_EQUAL GREATER LESS LESS_EQUAL".split()
    assert [predicate.name for predicate in registers.Predicate] == predicates
    assert PREDICATES == ("none", "eq", "ge", "gt", "lt", "le")
    assert [e.name.lower() for e in registers.ReadEffect][:2] == list(EFFECTS[:2])

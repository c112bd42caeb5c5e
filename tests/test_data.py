"""What chapters read: the addresses, the automaton, and records of benchmarks."""

from __future__ import annotations

import json

import pytest
import torch
from paramshare_data.addresses import addresses, held_out_addresses, training_addresses
from paramshare_data.automaton import automaton_batch, next_rows

from paramshare._support import machine, write_record

# --- addresses ---


def test_the_addresses_are_those_of_the_package_in_order_of_time():
    every = addresses()
    assert len(every) >= 249
    assert [address.year for address in every] == sorted(address.year for address in every)
    first = every[0]
    assert (first.president, first.year) == ("Washington", 1790)
    assert first.paragraphs[0].startswith("Fellow-Citizens of the Senate")
    assert all(paragraph and paragraph == " ".join(paragraph.split()) for paragraph in first.paragraphs)
    assert first.text.count("\n") == len(first.paragraphs) - 1


def test_no_address_is_both_learnt_from_and_measured_on():
    learnt, measured = training_addresses(), held_out_addresses()
    assert set(learnt).isdisjoint(measured)
    assert sorted([*learnt, *measured], key=addresses().index) == list(addresses())
    assert len(measured) == len(addresses()) // 10


# --- automaton ---


def by_definition(row: list[int], rule: int) -> list[int]:
    width = len(row)
    return [rule >> (4 * row[i - 1] + 2 * row[i] + row[(i + 1) % width]) & 1 for i in range(width)]


@pytest.mark.parametrize("rule", [0, 30, 90, 110, 255])
def test_a_step_follows_the_bits_of_the_rule(rule):
    rows = torch.randint(2, (20, 12), generator=torch.Generator().manual_seed(rule))
    assert next_rows(rows, rule).tolist() == [by_definition(row, rule) for row in rows.tolist()]


def test_a_batch_holds_the_row_after_each_step():
    start, after = automaton_batch(5, 4, torch.Generator().manual_seed(0), width=9)
    assert (start.shape, after.shape) == ((5, 9), (4, 5, 9))
    for earlier, later in zip([start, *after], after, strict=False):
        assert torch.equal(next_rows(earlier), later)
    again, _ = automaton_batch(5, 4, torch.Generator().manual_seed(0), width=9)
    assert torch.equal(start, again)


def test_a_rule_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="rule must be between 0 and 255: 256"):
        next_rows(torch.zeros(1, 3, dtype=torch.long), 256)


# --- records ---


def test_a_record_says_what_was_asked_and_on_what_machine(tmp_path):
    write_record(tmp_path / "benchmarks" / "sharing.json", "Which sharing is free?", {"loss": [2.5, 2.25]})
    written = json.loads((tmp_path / "benchmarks" / "sharing.json").read_text())
    assert written["question"] == "Which sharing is free?"
    assert written["results"] == {"loss": [2.5, 2.25]}
    assert written["machine"] == machine()
    assert [path.name for path in (tmp_path / "benchmarks").iterdir()] == ["sharing.json"]


def test_a_record_that_is_no_number_is_refused_and_the_old_one_stays(tmp_path):
    path = tmp_path / "sharing.json"
    write_record(path, "Does it learn?", {"loss": 2.5})
    with pytest.raises(ValueError):
        write_record(path, "Does it learn?", {"loss": float("nan")})
    assert json.loads(path.read_text())["results"] == {"loss": 2.5}

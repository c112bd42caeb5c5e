from contextlib import suppress

import pytest
import torch
from torch import nn

from autograder import ties
from autograder.ties import EQUAL_COPIES, ONE_STORAGE, PARTLY, SEPARATE, TIED, relation


class Pair(nn.Module):
    """Two layers of which `arrange` makes something."""

    def __init__(self, arrange=lambda pair: None, **options):
        super().__init__()
        self.a = nn.Linear(3, 3, bias=False, **options)
        self.b = nn.Linear(3, 3, bias=False, **options)
        arrange(self)


def is_one_parameter(pair):
    pair.b.weight = pair.a.weight


def share_data(pair):
    pair.b.weight.data = pair.a.weight.data


def share_transposed(pair):
    pair.b.weight.data = pair.a.weight.data.T


def share_a_part(pair):
    memory = torch.randn(12)
    pair.a.weight.data, pair.b.weight.data = memory[:9].view(3, 3), memory[3:].view(3, 3)


def copy(pair):
    pair.b.load_state_dict(pair.a.state_dict())


def freeze(pair):
    pair.requires_grad_(False)


def both(*arrangements):
    return lambda pair: [arrange(pair) for arrange in arrangements]


def expand(pair):
    pair.a.weight.data = torch.randn(1).expand(3, 3)


def as_buffers(make):
    def arrange(pair):
        del pair.a.weight, pair.b.weight
        first, second = make()
        pair.a.register_buffer("weight", first)
        pair.b.register_buffer("weight", second)

    return arrange


def same(tensor):
    return tensor, tensor


def integers(pair):
    pair.a.weight, pair.b.weight = (nn.Parameter(tensor, requires_grad=False) for tensor in same(torch.arange(4)))


class Computed(Pair):
    """One layer; the other name is computed from it in each reading."""

    def __init__(self, view):
        super().__init__()
        self.view = view

    other = property(lambda self: self.view(self.a.weight))


@pytest.mark.parametrize(
    ("arrange", "want"),
    [
        (is_one_parameter, TIED),
        (both(is_one_parameter, freeze), TIED),
        (share_data, ONE_STORAGE),
        (both(share_data, freeze), ONE_STORAGE),
        (share_transposed, ONE_STORAGE),
        (share_a_part, PARTLY),
        (copy, EQUAL_COPIES),
        (both(copy, freeze), EQUAL_COPIES),
        (lambda pair: None, SEPARATE),
        (expand, SEPARATE),
        (as_buffers(lambda: same(torch.ones(2))), TIED),
        (as_buffers(lambda: (torch.ones(2), torch.ones(2))), EQUAL_COPIES),
        (as_buffers(lambda: (torch.ones(2), torch.ones(2).double())), SEPARATE),
        (as_buffers(lambda: (torch.ones(2), torch.ones(3))), SEPARATE),
        (as_buffers(lambda: (torch.empty(0), torch.empty(0))), EQUAL_COPIES),
        (as_buffers(lambda: (torch.arange(3), torch.arange(3))), EQUAL_COPIES),
        (as_buffers(lambda: (torch.tensor([True]), torch.tensor([False]))), SEPARATE),
        (as_buffers(lambda: [view.view(-1) for view in same(torch.arange(4, dtype=torch.uint8))]), TIED),
        (integers, ONE_STORAGE),
    ],
)
def test_relation(arrange, want):
    pair = Pair(arrange)
    assert relation(pair, "a.weight", "b.weight") == want
    assert relation(pair, "b.weight", "a.weight") == want


@pytest.mark.parametrize(
    ("view", "want"),
    [
        (lambda weight: weight, TIED),
        (lambda weight: weight.T, TIED),
        (lambda weight: weight.view(-1), TIED),
        (lambda weight: weight[:2], PARTLY),
        (lambda weight: weight.clone(), EQUAL_COPIES),
        (lambda weight: weight * 2, SEPARATE),
    ],
)
def test_a_name_that_is_computed(view, want, recwarn):
    assert relation(Computed(view), "a.weight", "other") == want
    assert not recwarn.list


@pytest.mark.parametrize(("arrange", "want"), [(is_one_parameter, TIED), (share_data, ONE_STORAGE), (lambda pair: None, SEPARATE)])
def test_meta_tensors_are_told_by_identity(arrange, want):
    assert relation(Pair(arrange, device="meta"), "a.weight", "b.weight") == want


def fail_in(monkeypatch, place):
    def fail(*arguments):
        for written in arguments:
            written.data.fill_(7)
        raise RuntimeError("in the middle")

    if place == "writing":
        monkeypatch.setattr(ties, "_follows", fail)
    if place == "step":
        monkeypatch.setattr(torch.optim.SGD, "step", lambda self: fail(*self.param_groups[0]["params"]))


@pytest.mark.parametrize("arrange", [is_one_parameter, share_data, share_transposed, share_a_part, copy, freeze, expand])
@pytest.mark.parametrize("place", ["nowhere", "writing", "step"])
def test_the_module_is_left_as_it_was_even_on_failure(arrange, place, monkeypatch):
    pair = Pair(arrange)
    if pair.a.weight.requires_grad:
        (pair.a.weight * torch.randn(3, 3)).sum().backward()
    grads = [parameter.grad for parameter in pair.parameters()]
    before = [(p.detach().clone(), p.requires_grad, p.grad if p.grad is None else p.grad.clone()) for p in pair.parameters()]
    fail_in(monkeypatch, place)
    with suppress(RuntimeError):
        relation(pair, "a.weight", "b.weight")
    for parameter, grad, (values, requires_grad, grad_values) in zip(pair.parameters(), grads, before, strict=True):
        assert torch.equal(parameter, values)
        assert parameter.requires_grad == requires_grad
        assert parameter.grad is grad
        assert grad is None or torch.equal(grad, grad_values)


def test_a_weight_that_no_optimizer_can_step_is_no_tie():
    with pytest.raises(RuntimeError, match="single memory location"):
        relation(Pair(both(expand, share_data)), "a.weight", "b.weight")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("c.weight", "there is no c.weight; there are a.weight, b.weight"),
        ("a", "a is a Linear, not a parameter"),
        ("a.in_features", "a.in_features is an int, not a parameter"),
    ],
)
def test_names_that_lead_to_no_parameter(name, reason):
    for names in ((name, "a.weight"), ("a.weight", name)):
        with pytest.raises(LookupError) as caught:
            relation(Pair(), *names)
        assert str(caught.value) == reason

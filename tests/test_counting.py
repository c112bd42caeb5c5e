"""`paramshare.counting`: closed forms held against real modules, and a counter held against what popular counters get wrong."""

from __future__ import annotations

import copy
import warnings
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from paramshare.counting import (
    ParameterCount,
    attention_parameters,
    compare_sharing_strategies,
    count_parameters,
    feed_forward_parameters,
    format_comparison,
    layer_parameters,
)

BERT_BASE = {"hidden_dim": 768, "num_heads": 12, "intermediate_dim": 3072, "num_layers": 12}
TOTALS = {
    "No sharing (BERT)": 85_054_464,
    "Share attention only": 59_051_520,
    "Share FFN only": 33_090_816,
    "Share all (ALBERT)": 7_087_872,
}
sizes = st.integers(min_value=1, max_value=40)


def plain_count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def encoder_layer(hidden_dim: int, num_heads: int, intermediate_dim: int) -> nn.TransformerEncoderLayer:
    return nn.TransformerEncoderLayer(hidden_dim, num_heads, intermediate_dim, device="meta")


# Closed forms


@settings(deadline=None, max_examples=30)
@given(hidden_dim=sizes)
def test_attention_equals_torch(hidden_dim):
    assert attention_parameters(hidden_dim) == plain_count(nn.MultiheadAttention(hidden_dim, 1, device="meta"))


@settings(deadline=None, max_examples=30)
@given(hidden_dim=sizes, intermediate_dim=sizes)
def test_feed_forward_equals_torch(hidden_dim, intermediate_dim):
    up, down = nn.Linear(hidden_dim, intermediate_dim, device="meta"), nn.Linear(intermediate_dim, hidden_dim, device="meta")
    assert feed_forward_parameters(hidden_dim, intermediate_dim) == plain_count(nn.Sequential(up, down))


@settings(deadline=None, max_examples=30)
@given(head_dim=sizes, num_heads=st.integers(1, 8), intermediate_dim=sizes)
def test_layer_equals_torch(head_dim, num_heads, intermediate_dim):
    hidden_dim = head_dim * num_heads
    assert layer_parameters(hidden_dim, intermediate_dim) == plain_count(encoder_layer(hidden_dim, num_heads, intermediate_dim))


def test_bert_base_layer():
    assert attention_parameters(768) == 2_362_368
    assert layer_parameters(768, 3072) == 7_087_872 == plain_count(encoder_layer(768, 12, 3072))


def test_closed_forms_are_exact_integers_at_any_size():
    assert attention_parameters(10**12) == 4 * 10**24 + 4 * 10**12
    assert all(type(count) is int for count in (attention_parameters(3), feed_forward_parameters(3, 5), layer_parameters(3, 5)))


def test_strategies_have_the_names_the_keys_and_the_totals_of_the_source():
    strategies, unshared = compare_sharing_strategies(**BERT_BASE)
    assert {name: parts["total"] for name, parts in strategies.items()} == TOTALS
    assert list(strategies) == list(TOTALS)
    assert all(list(parts) == ["attention", "ffn", "total"] for parts in strategies.values())
    assert unshared == 85_054_464
    assert strategies["No sharing (BERT)"] == {"attention": 28_366_848, "ffn": 56_687_616, "total": 85_054_464}
    assert strategies["Share all (ALBERT)"] == {"attention": 2_363_904, "ffn": 4_723_968, "total": 7_087_872}


@settings(deadline=None, max_examples=30)
@given(head_dim=sizes, num_heads=st.integers(1, 8), intermediate_dim=sizes, num_layers=st.integers(1, 6))
def test_strategies_equal_modules_that_share(head_dim, num_heads, intermediate_dim, num_layers):
    hidden_dim = head_dim * num_heads
    strategies, unshared = compare_sharing_strategies(hidden_dim, num_heads, intermediate_dim, num_layers)
    for name, parts in strategies.items():
        layers = nn.ModuleList(encoder_layer(hidden_dim, num_heads, intermediate_dim) for _ in range(num_layers))
        for layer in layers:
            if name in ("Share attention only", "Share all (ALBERT)"):
                layer.self_attn, layer.norm1 = layers[0].self_attn, layers[0].norm1
            if name in ("Share FFN only", "Share all (ALBERT)"):
                layer.linear1, layer.linear2, layer.norm2 = layers[0].linear1, layers[0].linear2, layers[0].norm2
        count = count_parameters(layers)
        assert parts["total"] == parts["attention"] + parts["ffn"] == count.stored == count.distinct
        assert unshared == count.applied


def test_one_layer_leaves_nothing_to_share():
    strategies, unshared = compare_sharing_strategies(8, 2, 32, 1)
    assert {parts["total"] for parts in strategies.values()} == {unshared}


def test_format_is_the_comparison_of_the_source():
    assert format_comparison(**BERT_BASE).splitlines() == [
        "Layer Parameter Comparison (hidden=768, 12 layers):",
        "-------------------------------------------------------",
        "No sharing (BERT)      |   85,054,464 |   0.0% reduction",
        "Share attention only   |   59,051,520 |  30.6% reduction",
        "Share FFN only         |   33,090,816 |  61.1% reduction",
        "Share all (ALBERT)     |    7,087,872 |  91.7% reduction",
    ]


def test_format_follows_its_arguments():
    title, rule, *rows = format_comparison(8, 2, 32, 3).splitlines()
    strategies, unshared = compare_sharing_strategies(8, 2, 32, 3)
    assert title == "Layer Parameter Comparison (hidden=8, 3 layers):"
    assert rule == "-" * 55
    cuts = {name: 100 * (1 - parts["total"] / unshared) for name, parts in strategies.items()}
    assert rows == [f"{name:<22} | {strategies[name]['total']:>12,} | {cut:5.1f}% reduction" for name, cut in cuts.items()]


CLOSED_FORMS = [
    (attention_parameters, {"hidden_dim": 8}),
    (feed_forward_parameters, {"hidden_dim": 8, "intermediate_dim": 32}),
    (layer_parameters, {"hidden_dim": 8, "intermediate_dim": 32}),
    (compare_sharing_strategies, {"hidden_dim": 8, "num_heads": 2, "intermediate_dim": 32, "num_layers": 3}),
    (format_comparison, {"hidden_dim": 8, "num_heads": 2, "intermediate_dim": 32, "num_layers": 3}),
]


@pytest.mark.parametrize("size", [0, -1, True, 2.0, "2", None, float("nan")], ids=repr)
@pytest.mark.parametrize(
    ("closed_form", "good", "name"),
    [(closed_form, good, name) for closed_form, good in CLOSED_FORMS for name in good],
    ids=lambda value: getattr(value, "__name__", value if isinstance(value, str) else ""),
)
def test_a_size_that_is_no_positive_integer_is_refused_by_name(closed_form, good, name, size):
    wanted = ValueError if type(size) is int else TypeError
    with pytest.raises((wanted, ValueError), match=rf"\b{name}\b"):
        closed_form(**{**good, name: size})


@pytest.mark.parametrize("closed_form", [compare_sharing_strategies, format_comparison])
@pytest.mark.parametrize(("hidden_dim", "num_heads"), [(770, 12), (8, 16), (7, 2)])
def test_heads_must_divide(closed_form, hidden_dim, num_heads):
    with pytest.raises(ValueError, match=r"\bnum_heads\b"):
        closed_form(hidden_dim, num_heads, 32, 3)


# Whole published models, on the meta device


@pytest.fixture(scope="module")
def published() -> SimpleNamespace:
    transformers = pytest.importorskip("transformers")
    albert_base = transformers.AlbertConfig(hidden_size=768, num_attention_heads=12, intermediate_size=3072)
    with torch.device("meta"):
        return SimpleNamespace(
            bert=transformers.BertModel(transformers.BertConfig()),
            albert=transformers.AlbertModel(albert_base),
            gpt2=transformers.GPT2LMHeadModel(transformers.GPT2Config()),
        )


def test_closed_form_is_the_encoder_of_bert(published):
    assert count_parameters(published.bert.encoder) == ParameterCount(85_054_464, 85_054_464, 85_054_464, ())
    assert 12 * layer_parameters(768, 3072) == 85_054_464


def test_albert_is_89_percent_smaller_than_bert(published):
    bert, albert = count_parameters(published.bert), count_parameters(published.albert)
    assert (int(bert), int(albert)) == (109_482_240, 11_683_584)
    assert round(100 * (1 - albert.stored / bert.stored), 1) == 89.3


def test_encoder_of_albert_holds_one_projection_more_than_the_closed_form(published):
    assert int(count_parameters(published.albert.encoder)) == 7_186_944 == layer_parameters(768, 3072) + 128 * 768 + 768


def test_children_of_gpt2_do_not_add_up(published):
    gpt2 = count_parameters(published.gpt2)
    children = [count_parameters(child).stored for child in published.gpt2.children()]
    assert gpt2.stored == 124_439_808
    assert sum(children) - gpt2.stored == 38_597_376 == gpt2.applied - gpt2.stored
    assert gpt2.shared == (("transformer.wte.weight", "lm_head.weight"),)


# Small models, each a way to share or not to


class Parent(nn.Module):
    def __init__(self, child: nn.Module) -> None:
        super().__init__()
        self.child = child

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.child(x)


class Looped(Parent):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.child(self.child(self.child(x)))


def three_parents() -> nn.Module:
    layer = nn.Linear(4, 4)
    return nn.Sequential(Parent(layer), Parent(layer), Parent(layer))


class Listed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4)] * 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def one_parameter_in_three_modules() -> nn.Module:
    layers = nn.Sequential(*(nn.Linear(4, 4, bias=False) for _ in range(3)))
    layers[1].weight = layers[2].weight = layers[0].weight
    return layers


def tied_embeddings(device: str = "cpu", tie: bool = True) -> nn.Sequential:
    embedding, head = nn.Embedding(11, 4, device=device), nn.Linear(4, 11, bias=False, device=device)
    if tie:
        head.weight = embedding.weight
    return nn.Sequential(embedding, head)


def data_tied() -> nn.Module:
    layers = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))
    layers[1].weight.data = layers[0].weight.data
    return layers


def parameters(*tensors: torch.Tensor) -> nn.ParameterList:
    """A module whose parameters, named "0", "1", ..., are these tensors, each in the memory it came in."""
    return nn.ParameterList(nn.Parameter(tensor, requires_grad=False) for tensor in tensors)


ONE_TIE = (("0.weight", "1.weight"),)
CASES = {
    # name: (make, stored, distinct, applied, shared)
    "looped": (lambda: Looped(nn.Linear(4, 4)), 20, 20, 20, ()),
    "listed": (Listed, 20, 20, 60, tuple(tuple(f"layers.{i}.{name}" for i in range(3)) for name in ("weight", "bias"))),
    "three parents": (three_parents, 20, 20, 60, tuple(tuple(f"{i}.child.{name}" for i in range(3)) for name in ("weight", "bias"))),
    "one Parameter in three modules": (one_parameter_in_three_modules, 16, 16, 48, (("0.weight", "1.weight", "2.weight"),)),
    "tied": (tied_embeddings, 44, 44, 88, ONE_TIE),
    "untied": (lambda: tied_embeddings(tie=False), 88, 88, 88, ()),
    "tied on meta": (lambda: tied_embeddings("meta"), 44, 44, 88, ONE_TIE),
    "untied on meta": (lambda: tied_embeddings("meta", tie=False), 88, 88, 88, ()),
    "deepcopy of tied": (lambda: copy.deepcopy(tied_embeddings()), 44, 44, 88, ONE_TIE),
    "tied by .data": (data_tied, 16, 32, 32, ONE_TIE),
    "deepcopy of tied by .data": (lambda: copy.deepcopy(data_tied()), 32, 32, 32, ()),
    "equal values": (lambda: parameters(torch.ones(5), torch.ones(5)), 10, 10, 10, ()),
    "empty": (nn.Module, 0, 0, 0, ()),
    "no parameters": (lambda: nn.Sequential(nn.ReLU(), nn.Sequential()), 0, 0, 0, ()),
    "no bias": (lambda: nn.Linear(4, 4, bias=False), 16, 16, 16, ()),
    "buffers": (lambda: nn.BatchNorm1d(4), 8, 8, 8, ()),
    "frozen": (lambda: nn.Linear(4, 4).requires_grad_(False), 20, 20, 20, ()),
    "dtypes": (lambda: parameters(torch.ones(3), torch.ones(5).half(), torch.ones(7).to(torch.complex128)), 15, 15, 15, ()),
    "scalar": (lambda: parameters(torch.tensor(1.0)), 1, 1, 1, ()),
    "no elements": (lambda: parameters(torch.ones(0, 3), torch.ones(0, 3), torch.ones(2)), 2, 2, 2, ()),
}


@pytest.mark.parametrize("case", CASES)
def test_count(case):
    make, *right = CASES[case]
    assert count_parameters(make()) == ParameterCount(*right)


def test_int_is_stored():
    assert int(count_parameters(data_tied())) == 16


def test_a_count_cannot_be_changed():
    with pytest.raises(AttributeError):
        count_parameters(nn.Linear(2, 2)).stored = 0


def test_counting_changes_nothing():
    model = tied_embeddings()
    before = copy.deepcopy(model.state_dict())
    count_parameters(model)
    assert model[0].weight is model[1].weight
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert model[0].weight.grad is None and model.training


# What other ways of counting say of the same models

WRONG_BY_STATE_DICT = {"listed": 60, "three parents": 60, "one Parameter in three modules": 48, "tied": 88}
BY_TORCHINFO = {"looped": 20, "listed": 20, "three parents": 80, "one Parameter in three modules": 48, "tied": 88, "untied": 88}


@pytest.mark.parametrize("case", WRONG_BY_STATE_DICT)
def test_state_dict_counts_every_name(case):
    make, stored, *_ = CASES[case]
    assert sum(value.numel() for value in make().state_dict().values()) == WRONG_BY_STATE_DICT[case] != stored


@pytest.mark.parametrize("case", BY_TORCHINFO)
def test_torchinfo(case):
    torchinfo = pytest.importorskip("torchinfo")
    if torchinfo.__version__ != "1.8.0":
        pytest.skip("what the course says of torchinfo, it says of 1.8.0")
    make, stored, *_ = CASES[case]
    x = torch.zeros(2, 3, dtype=torch.long) if "tied" in case else torch.zeros(2, 4)
    assert torchinfo.summary(make(), input_data=x, verbose=0).total_params == BY_TORCHINFO[case]
    assert (BY_TORCHINFO[case] == stored) == (case in ("looped", "listed", "untied"))


def test_state_dict_of_a_tied_model_holds_the_embedding_once_too_often():
    model = tied_embeddings()
    assert sum(value.numel() for value in model.state_dict().values()) - count_parameters(model).stored == 11 * 4


# Ties that break and copies that do not share


def test_assign_leaves_one_memory_and_two_parameters():
    model = tied_embeddings()
    model.load_state_dict(model.state_dict(), assign=True)
    assert count_parameters(model) == ParameterCount(44, 88, 88, ONE_TIE)


def test_equal_is_not_tied():
    model = tied_embeddings(tie=False)
    model.load_state_dict(tied_embeddings().state_dict())
    assert torch.equal(model[0].weight, model[1].weight)
    assert count_parameters(model) == ParameterCount(88, 88, 88, ())


def test_to_empty_unties():
    model = tied_embeddings("meta")
    assert count_parameters(model).stored == 44
    assert count_parameters(model.to_empty(device="cpu")) == ParameterCount(88, 88, 88, ())


def test_a_change_of_dtype_unties_data_and_keeps_one_parameter_one():
    assert count_parameters(data_tied().double()) == ParameterCount(32, 32, 32, ())
    assert count_parameters(tied_embeddings().double()) == ParameterCount(44, 44, 88, ONE_TIE)


def test_transformer_encoder_copies_its_layer():
    layer = nn.TransformerEncoderLayer(16, 2, 64, batch_first=True)
    assert count_parameters(nn.TransformerEncoder(layer, 6)) == ParameterCount(19_680, 19_680, 19_680, ())
    listed = count_parameters(nn.ModuleList([layer] * 6))
    assert (listed.stored, listed.distinct, listed.applied, len(listed.shared)) == (3_280, 3_280, 19_680, 12)


def test_parametrized_weight_is_counted_by_what_is_stored():
    linear = nn.utils.parametrizations.weight_norm(nn.Linear(4, 3, bias=False))
    assert int(count_parameters(linear)) == 12 + 3


# Views


def test_views_of_one_flat_buffer_side_by_side_share_nothing():
    flat = torch.zeros(24)
    assert count_parameters(parameters(flat[0:6], flat[6:14].view(2, 4), flat[14:24])) == ParameterCount(24, 24, 24, ())


def test_a_view_counts_what_it_reaches_and_not_its_storage():
    assert int(count_parameters(parameters(torch.zeros(100)[10:13]))) == 3


def test_overlap_is_transitive_and_groups_keep_the_order_of_registration():
    flat, lone = torch.zeros(20), torch.zeros(3)
    model = parameters(flat[6:10], lone, flat[15:20], flat[0:4], flat[16:18], flat[3:7])
    assert count_parameters(model) == ParameterCount(18, 22, 22, (("0", "3", "5"), ("2", "4")))


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_strided_views(device):
    matrix = torch.zeros(6, 8, device=device)
    left, right, odd, even = matrix[:, :4], matrix[:, 4:], matrix[:, 1::2], matrix[:, ::2]
    assert count_parameters(parameters(left, right)) == ParameterCount(48, 48, 48, ())
    assert count_parameters(parameters(odd, even)) == ParameterCount(48, 48, 48, ())
    assert count_parameters(parameters(left, odd)) == ParameterCount(36, 48, 48, (("0", "1"),))
    assert count_parameters(parameters(left, left.T)) == ParameterCount(24, 48, 48, (("0", "1"),))
    assert count_parameters(parameters(matrix.T, matrix[1:3])) == ParameterCount(48, 64, 64, (("0", "1"),))
    assert count_parameters(parameters(matrix.diagonal(), matrix[0])) == ParameterCount(13, 14, 14, (("0", "1"),))


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_expanded_and_folded_tensors(device):
    row = torch.zeros(1, 5, device=device)
    assert count_parameters(parameters(row.expand(3, 5))) == ParameterCount(5, 15, 15, ())
    assert count_parameters(parameters(row.expand(3, 5), row)) == ParameterCount(5, 20, 20, (("0", "1"),))
    assert count_parameters(parameters(torch.zeros((), device=device).expand(1000, 1000))).stored == 1
    assert count_parameters(parameters(torch.zeros(10, device=device).unfold(0, 4, 1))) == ParameterCount(10, 28, 28, ())


def test_two_storages_over_one_array():
    array = pytest.importorskip("numpy").zeros(10, dtype="float32")
    model = parameters(torch.from_numpy(array), torch.from_numpy(array[4:]))
    assert count_parameters(model) == ParameterCount(10, 16, 16, (("0", "1"),))


def test_dtypes_side_by_side_in_one_storage():
    flat = torch.zeros(16, dtype=torch.uint8)
    assert count_parameters(parameters(flat[:8].view(torch.float32), flat[8:].view(torch.float16))) == ParameterCount(6, 6, 6, ())


def test_dtypes_of_one_size_over_each_other():
    half = torch.zeros(4, dtype=torch.float16)
    assert count_parameters(parameters(half, half.view(torch.bfloat16))) == ParameterCount(4, 8, 8, (("0", "1"),))


def test_dtypes_of_different_sizes_over_each_other_are_refused():
    half = torch.zeros(4, dtype=torch.float16)
    with pytest.raises(ValueError, match=r"\b0 and 1\b.*clone"):
        count_parameters(parameters(half, half.view(torch.float32)))


def test_large_tensors_cost_as_little_as_small_ones():
    big = torch.zeros(10**6, 10**6, device="meta")
    count = count_parameters(parameters(big, big.T, big[5:], big[:1000, :70]))
    assert (count.stored, count.shared) == (10**12, (("0", "1", "2", "3"),))


def test_too_many_pieces_are_refused():
    with pytest.raises(ValueError, match=r"\b0\b.*contiguous"):
        count_parameters(parameters(torch.zeros(10**5, 10**5, device="meta")[:, ::2]))


@st.composite
def views(draw) -> list[torch.Tensor]:
    """Up to six views of two storages of forty elements: strided, overlapping, expanded or empty, as it comes."""
    device = draw(st.sampled_from(["cpu", "meta"]))
    storages = [torch.zeros(40, device=device) for _ in range(2)]
    drawn = []
    for _ in range(draw(st.integers(1, 6))):
        shape = draw(st.lists(st.integers(0, 3), max_size=3))
        stride = [draw(st.integers(0, 5)) for _ in shape]
        drawn.append(draw(st.sampled_from(storages)).as_strided(shape, stride, draw(st.integers(0, 9))))
    return drawn


def reached_by(view: torch.Tensor) -> set[tuple[int, int]]:
    places = torch.arange(40).as_strided(view.shape, view.stride(), view.storage_offset())
    return {(view.untyped_storage()._cdata, place) for place in places.flatten().tolist()}


@settings(deadline=None, max_examples=200)
@given(views())
def test_any_views_are_counted_as_sets_of_places(drawn):
    reached = [reached_by(view) for view in drawn]
    group = list(range(len(drawn)))
    for _ in drawn:  # as often as the longest chain could need
        group = [min(group[j] for j in range(len(drawn)) if j == i or reached[i] & reached[j]) for i in range(len(drawn))]
    shared = [tuple(str(i) for i in range(len(drawn)) if group[i] == first) for first in dict.fromkeys(group)]

    count = count_parameters(parameters(*drawn))
    assert count.stored == len(set().union(*reached))
    assert count.distinct == count.applied == sum(view.numel() for view in drawn)
    assert count.shared == tuple(names for names in shared if len(names) > 1)


# What cannot be counted


@pytest.mark.parametrize("thing", [None, 3, torch.ones(2), [nn.Linear(2, 2)], nn.Linear], ids=["None", "int", "tensor", "list", "class"])
def test_only_modules_have_parameters(thing):
    with pytest.raises(TypeError, match=r"\bmodule\b"):
        count_parameters(thing)


def test_lazy_parameters_are_refused_until_they_have_a_shape():
    model = nn.Sequential(nn.Linear(4, 4), nn.LazyLinear(3))
    with pytest.raises(ValueError, match=r"1\.weight.*call the module once"):
        count_parameters(model)
    model(torch.zeros(1, 4))
    assert int(count_parameters(model)) == 20 + 15


def test_lazy_buffers_do_not_matter():
    assert int(count_parameters(nn.LazyBatchNorm1d(affine=False))) == 0


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "convert",
    [
        torch.Tensor.to_sparse,
        torch.Tensor.to_sparse_csr,
        pytest.param(
            torch.Tensor.to_mkldnn, marks=pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="torch without mkldnn")
        ),
        lambda eye: torch.nested.nested_tensor([eye, eye]),
        lambda eye: torch.nested.nested_tensor([eye, eye], layout=torch.jagged),
    ],
    ids=["coo", "csr", "mkldnn", "nested", "jagged"],
)
def test_other_layouts_are_refused(convert):
    model = nn.Sequential(nn.Module())
    model[0].register_parameter("odd", nn.Parameter(convert(torch.eye(3))))
    with pytest.raises(ValueError, match=r"\b0\.odd\b.*before"):
        count_parameters(model)


class Wrapper(torch.Tensor):
    """A tensor that is another tensor, as quantized and sharded ones are."""

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Wrapper:
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device)

    def __init__(self, inner: torch.Tensor) -> None:
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return cls(function(*(arg.inner if isinstance(arg, cls) else arg for arg in args), **(kwargs or {})))


class WrapperWithProtocol(Wrapper):
    def __tensor_flatten__(self):
        return ["inner"], None


@pytest.mark.parametrize(("kind", "device"), [(Wrapper, "cpu"), (WrapperWithProtocol, "cpu"), (WrapperWithProtocol, "meta")])
def test_wrappers_are_refused(kind, device):
    with pytest.raises(ValueError, match=r"\b0\b.*before"):
        count_parameters(parameters(kind(torch.zeros(3, device=device))))


def test_freed_memory_is_refused():
    model = nn.Linear(4, 4)
    model.weight.untyped_storage().resize_(0)
    with pytest.raises(ValueError, match=r"\bweight\b"):
        count_parameters(model)


@pytest.mark.parametrize("scripted", [False, True], ids=["eager", "scripted"])
@pytest.mark.parametrize("dtype", [torch.qint8, torch.float16], ids=str)
@pytest.mark.parametrize("make", [lambda: nn.Linear(4, 3), lambda: nn.LSTM(4, 3)], ids=["Linear", "LSTM"])
def test_packed_quantized_weights_are_not_counted_as_nothing(make, dtype, scripted):
    quantization = pytest.importorskip("torch.ao.quantization")
    if torch.backends.quantized.engine == "none":
        pytest.skip("torch without a quantized engine")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = quantization.quantize_dynamic(nn.Sequential(nn.ReLU(), make()), dtype=dtype)
        model = torch.jit.script(model) if scripted else model
    assert plain_count(model) == 0
    with pytest.raises(ValueError, match=r"\b1\b.*packs its weights"):
        count_parameters(model)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_module_converted_to_mkldnn_is_refused():
    mkldnn = pytest.importorskip("torch.utils.mkldnn")
    if not torch.backends.mkldnn.is_available():
        pytest.skip("torch without mkldnn")
    model = mkldnn.to_mkldnn(nn.Sequential(nn.Linear(4, 3)).eval())
    with pytest.raises(ValueError, match="packs its weights"):
        count_parameters(model)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_scripted_module_keeps_its_ties():
    assert count_parameters(torch.jit.script(tied_embeddings())) == ParameterCount(44, 44, 88, ONE_TIE)


def test_a_child_that_holds_its_parent_is_refused():
    parent = nn.Sequential(nn.Linear(2, 2), Parent(nn.Linear(2, 2)))
    parent[1].boss = parent
    with pytest.raises(ValueError, match=r"module\.1\.boss is module again"):
        count_parameters(parent)


def test_a_diamond_is_no_circle():
    base = nn.Linear(2, 2)
    assert count_parameters(nn.Sequential(Parent(base), base)).applied == 12

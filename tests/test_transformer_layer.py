"""`paramshare.transformer_layer`: values and gradients held against PyTorch and transformers, closed forms against what they count.

Parity is the largest absolute difference, on tiny random sizes, dropout off, with weights drawn at two standard deviations (the scales of
LayerNorms around 1). Gradients are those of a mean, so that their size does not depend on how many numbers there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from paramshare.counting import attention_parameters, count_parameters, feed_forward_parameters, four_ledgers, layer_parameters
from paramshare.transformer_layer import (
    FeedForward,
    MultiHeadAttention,
    TransformerLayer,
    TransformerStack,
    attention_weights,
    causal_mask,
    layer_activation_bytes,
    layer_norm,
    layer_operations,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    split_heads,
)

CLOSE = {torch.float32: 1e-5, torch.float64: 1e-12}
PARITY = settings(max_examples=30, derandomize=True, deadline=None)


@dataclass(frozen=True)
class Sizes:
    batch_size: int
    seq_len: int
    num_heads: int
    head_dim: int
    intermediate_dim: int
    contiguous: bool
    seed: int

    @property
    def hidden_dim(self) -> int:
        return self.num_heads * self.head_dim

    def generator(self) -> torch.Generator:
        return torch.Generator().manual_seed(self.seed)


random_sizes = st.builds(
    Sizes,
    batch_size=st.integers(1, 3),
    seq_len=st.integers(1, 7),
    num_heads=st.integers(1, 4),
    head_dim=st.integers(1, 7),
    intermediate_dim=st.integers(1, 20),
    contiguous=st.booleans(),
    seed=st.integers(0, 2**32),
)
tiny = random_sizes.filter(lambda sizes: sizes.hidden_dim > 2)  # of one or two numbers LayerNorm leaves nothing but a sign
ONE_TOKEN = Sizes(2, 1, 2, 3, 5, True, 0)
ONE_HEAD = Sizes(2, 5, 1, 7, 9, True, 1)
ODD_HEADS = Sizes(3, 5, 3, 5, 7, False, 2)
parity = pytest.mark.parametrize("std", [0.02, 1.0])
dtypes = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])


def odd_and_random(test: Callable) -> Callable:
    """Thirty random configurations, and the odd ones by name."""
    for sizes in (ONE_TOKEN, ONE_HEAD, ODD_HEADS):
        test = example(sizes=sizes)(test)
    return PARITY(given(sizes=tiny)(test))


def drawn(generator: torch.Generator, dtype: torch.dtype, *shape: int) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def tokens(sizes: Sizes, generator: torch.Generator, dtype: torch.dtype) -> Tensor:
    """(B, T, D), or the same lying in memory as (T, B, D)."""
    if sizes.contiguous:
        return drawn(generator, dtype, sizes.batch_size, sizes.seq_len, sizes.hidden_dim)
    return drawn(generator, dtype, sizes.seq_len, sizes.batch_size, sizes.hidden_dim).transpose(0, 1)


def lengths_of(sizes: Sizes, generator: torch.Generator) -> Tensor:
    return torch.randint(1, sizes.seq_len + 1, (sizes.batch_size,), generator=generator)


def redraw(module: nn.Module, std: float, generator: torch.Generator, dtype: torch.dtype) -> nn.Module:
    for name, parameter in module.named_parameters():
        parameter.data = drawn(generator, dtype, *parameter.shape) * std + ("norm.weight" in name)
    return module.to(dtype)


Leaf = Tensor | tuple[Tensor, ...]  # a tuple: what the other side keeps in one tensor


def agree(ours: Callable, our_leaves: Iterable[Leaf], theirs: Callable, their_leaves: Iterable[Leaf], sizes: Sizes) -> None:
    """The same values, and the same gradients of each pair of leaves."""
    our_value, their_value = ours(), theirs()
    direction = drawn(sizes.generator(), our_value.dtype, *our_value.shape)
    assert_close(our_value, their_value)
    our_gradients = gradients((our_value * direction).mean(), our_leaves)
    their_gradients = gradients((their_value * direction).mean(), their_leaves)
    for one, other in zip(our_gradients, their_gradients, strict=True):
        assert_close(one, other)


def gradients(loss: Tensor, leaves: Iterable[Leaf]) -> list[Tensor]:
    together = [leaf if isinstance(leaf, tuple) else (leaf,) for leaf in leaves]
    return [torch.cat(torch.autograd.grad(loss, leaf, retain_graph=True)) for leaf in together]


def assert_close(one: Tensor, other: Tensor) -> None:
    assert (one - other).abs().max() <= CLOSE[one.dtype]


# Attention


@dtypes
@parity
def test_attention_equals_torch(dtype, std):
    @odd_and_random
    def check(sizes):
        g = sizes.generator()
        num_keys = sizes.seq_len + sizes.seed % 3
        query = drawn(g, dtype, sizes.batch_size, sizes.num_heads, sizes.seq_len, sizes.head_dim) * std
        key, value = (drawn(g, dtype, sizes.batch_size, sizes.num_heads, num_keys, sizes.head_dim) * std for _ in range(2))
        mask = torch.rand((sizes.batch_size, 1, sizes.seq_len, num_keys), generator=g) < 0.6
        mask[0, 0, 0] = False  # a query that may look at nothing
        leaves = [tensor.requires_grad_() for tensor in (query, key, value)]
        if not sizes.contiguous:
            query, key, value = (tensor.transpose(1, 2).contiguous().transpose(1, 2) for tensor in leaves)
        for given_mask in (None, mask):
            with sdpa_kernel(SDPBackend.MATH):
                agree(
                    lambda: scaled_dot_product_attention(query, key, value, given_mask),  # noqa: B023
                    leaves,
                    lambda: functional.scaled_dot_product_attention(query, key, value, attn_mask=given_mask),  # noqa: B023
                    leaves,
                    sizes,
                )

    check()


@odd_and_random
def test_weights_are_zero_where_masked_and_sum_to_one_where_anything_is_left(sizes):
    g = sizes.generator()
    query, key = (drawn(g, torch.float64, sizes.batch_size, sizes.num_heads, sizes.seq_len, sizes.head_dim) for _ in range(2))
    mask = torch.rand((sizes.batch_size, 1, sizes.seq_len, sizes.seq_len), generator=g) < 0.4
    weights = attention_weights(query, key, mask)
    assert (weights[~mask.expand_as(weights)] == 0).all()
    assert torch.allclose(weights.sum(dim=-1), mask.any(dim=-1).double().expand(weights.shape[:-1]))


def test_a_query_that_may_look_at_nothing_gets_zeros_and_no_nan_either_way():
    x = torch.randn(2, 3, 4, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):  # raises at the first nan on the way back
        result = scaled_dot_product_attention(x, x, x, torch.zeros(3, 3, dtype=torch.bool))
        result.sum().backward()
    assert (result == 0).all() and (x.grad == 0).all()


def test_what_the_libraries_make_of_a_query_that_may_look_at_nothing():
    torch.manual_seed(0)
    x, hidden = torch.randn(1, 3, 4), torch.ones(1, 3, dtype=torch.bool)
    module = nn.MultiheadAttention(4, 1, batch_first=True)
    assert module(x, x, x, key_padding_mask=hidden, need_weights=True)[0].isnan().all()
    assert (module(x, x, x, key_padding_mask=hidden, need_weights=False)[0] == module.out_proj.bias).all()
    attention = bert_layer(Sizes(1, 3, 1, 4, 5, True, 0), torch.float32).attention.self
    average, *_ = attention(x, torch.full((1, 1, 3, 3), torch.finfo(torch.float32).min))
    assert torch.allclose(average, attention.value(x).mean(dim=1, keepdim=True).expand(1, 3, 4), atol=1e-6)


@pytest.mark.parametrize("mask", [torch.ones(3, 3), torch.zeros(3, 3, dtype=torch.long)], ids=["float", "int"])
def test_masks_of_numbers_are_refused(mask):
    x = torch.randn(1, 3, 4)
    with pytest.raises(TypeError, match="mask must be bool"):
        scaled_dot_product_attention(x, x, x, mask)


# Masks


@settings(deadline=None)
@given(seq_len=st.integers(1, 9), data=st.data())
def test_padding_mask_shows_the_first_tokens(seq_len, data):
    lengths = data.draw(st.lists(st.integers(0, seq_len), min_size=1, max_size=4))
    mask = padding_mask(torch.tensor(lengths), seq_len)
    assert mask.shape == (len(lengths), 1, 1, seq_len) and mask.dtype == torch.bool
    assert mask[:, 0, 0].tolist() == [[True] * length + [False] * (seq_len - length) for length in lengths]


@pytest.mark.parametrize("lengths", [[4], [-1, 2]])
def test_lengths_outside_the_sequence_are_refused(lengths):
    with pytest.raises(ValueError, match="lengths"):
        padding_mask(torch.tensor(lengths), 3)


@pytest.mark.parametrize("pre_norm", [False, True])
def test_a_causal_layer_does_not_see_the_future(pre_norm):
    torch.manual_seed(0)
    layer, x = TransformerLayer(6, 2, 9, pre_norm=pre_norm), torch.randn(2, 5, 6)
    changed = x.clone()
    changed[:, 3:] += 1
    before, after = layer(x, causal_mask(5)), layer(changed, causal_mask(5))
    assert torch.equal(before[:, :3], after[:, :3]) and not torch.allclose(before[:, 3:], after[:, 3:])


def test_a_layer_does_not_see_padding():
    torch.manual_seed(0)
    layer, x = TransformerLayer(6, 2, 9), torch.randn(2, 5, 6)
    mask = padding_mask(torch.tensor([3, 5]), 5) & causal_mask(5)
    changed = x.clone()
    changed[0, 3:] += 1
    assert torch.equal(layer(x, mask)[0, :3], layer(changed, mask)[0, :3])
    assert torch.allclose(layer(x, mask)[0, :3], layer(x[:1, :3], causal_mask(3))[0], atol=1e-6)


# Heads


@odd_and_random
def test_split_heads_gives_each_head_its_strip(sizes):
    x = tokens(sizes, sizes.generator(), torch.float32)
    heads = split_heads(x, sizes.num_heads)
    assert torch.equal(heads, torch.stack(x.split(sizes.head_dim, dim=-1), dim=1))
    assert torch.equal(merge_heads(heads), x)


def test_heads_must_divide_the_numbers_of_a_token():
    for make in (lambda: split_heads(torch.zeros(1, 1, 6), 4), lambda: MultiHeadAttention(6, 4), lambda: TransformerLayer(6, 4, 8)):
        with pytest.raises(ValueError, match="num_heads must divide hidden_dim: 4, 6"):
            make()


# LayerNorm


@dtypes
@parity
def test_layer_norm_equals_torch(dtype, std):
    @odd_and_random
    def check(sizes):
        g = sizes.generator()
        x = tokens(sizes, g, dtype).requires_grad_()
        weight, bias = ((drawn(g, dtype, sizes.hidden_dim) * std).requires_grad_() for _ in range(2))
        for eps in (1e-5, 0.5):
            agree(
                lambda: layer_norm(x, weight, bias, eps),  # noqa: B023
                (x, weight, bias),
                lambda: functional.layer_norm(x, (sizes.hidden_dim,), weight, bias, eps),  # noqa: B023
                (x, weight, bias),
                sizes,
            )

    check()


# Parity of modules: theirs take our parameters, ours by name


BERT = {
    "attention.query": "attention.self.query",
    "attention.key": "attention.self.key",
    "attention.value": "attention.self.value",
    "attention.output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "feed_forward.up": "intermediate.dense",
    "feed_forward.down": "output.dense",
    "feed_forward_norm": "output.LayerNorm",
}
ALBERT = {
    "attention.query": "attention.query",
    "attention.key": "attention.key",
    "attention.value": "attention.value",
    "attention.output": "attention.dense",
    "attention_norm": "attention.LayerNorm",
    "feed_forward.up": "ffn",
    "feed_forward.down": "ffn_output",
    "feed_forward_norm": "full_layer_layer_norm",
}
TORCH = {
    "attention.output": "self_attn.out_proj",
    "attention_norm": "norm1",
    "feed_forward.up": "linear1",
    "feed_forward.down": "linear2",
    "feed_forward_norm": "norm2",
}


def hand_over(ours: nn.Module, theirs: nn.Module, names: dict[str, str]) -> tuple[list[Leaf], list[Leaf]]:
    """Put our values into their parameters; the two lists have the parameters in one order."""
    our_parameters, their_parameters = dict(ours.named_parameters()), dict(theirs.named_parameters())
    pairs = [(our_parameters[f"{a}.{kind}"], their_parameters[f"{b}.{kind}"]) for a, b in names.items() for kind in ("weight", "bias")]
    for one, other in pairs:
        other.data = one.data.clone()
    return [one for one, _ in pairs], [other for _, other in pairs]


def hand_over_projections(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> tuple[list[Leaf], list[Leaf]]:
    """The same for queries, keys and values, which PyTorch keeps in one matrix."""
    separate = [tuple(getattr(project, kind) for project in (ours.query, ours.key, ours.value)) for kind in ("weight", "bias")]
    for three, one in zip(separate, (theirs.in_proj_weight, theirs.in_proj_bias), strict=True):
        one.data = torch.cat([parameter.data for parameter in three])
    return separate, [theirs.in_proj_weight, theirs.in_proj_bias]


def bert_layer(sizes: Sizes, dtype: torch.dtype) -> nn.Module:
    bert = pytest.importorskip("transformers.models.bert.modeling_bert")
    config = bert.BertConfig(
        hidden_size=sizes.hidden_dim,
        num_attention_heads=sizes.num_heads,
        intermediate_size=sizes.intermediate_dim,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        attn_implementation="eager",
    )
    return bert.BertLayer(config).to(dtype)


def albert_layer(sizes: Sizes, dtype: torch.dtype) -> nn.Module:
    albert = pytest.importorskip("transformers.models.albert.modeling_albert")
    config = albert.AlbertConfig(
        hidden_size=sizes.hidden_dim,
        num_attention_heads=sizes.num_heads,
        intermediate_size=sizes.intermediate_dim,
        attn_implementation="eager",
    )
    return albert.AlbertLayer(config).to(dtype)


def first(value: Tensor | tuple) -> Tensor:
    return value[0] if isinstance(value, tuple) else value


def additive(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """The mask as transformers takes it: 0 where a query may look, the lowest number elsewhere."""
    return torch.zeros(mask.shape, dtype=dtype).masked_fill(~mask, torch.finfo(dtype).min)


@dtypes
@parity
def test_multi_head_attention_equals_torch(dtype, std):
    @odd_and_random
    def check(sizes):
        g = sizes.generator()
        ours = redraw(MultiHeadAttention(sizes.hidden_dim, sizes.num_heads), std, g, dtype)
        theirs = nn.MultiheadAttention(sizes.hidden_dim, sizes.num_heads, batch_first=True, dtype=dtype)
        projections = hand_over_projections(ours, theirs)
        outputs = hand_over(ours, theirs, {"output": "out_proj"})
        x = tokens(sizes, g, dtype).requires_grad_()
        mask = padding_mask(lengths_of(sizes, g), sizes.seq_len)
        hidden = ~mask[:, 0, 0]
        largest = ours(x, mask).detach().abs().max().clamp(min=1)  # no LayerNorm here: at 65, float32 itself is rounded by 4e-6
        agree(
            lambda: ours(x, mask) / largest,
            (x, *projections[0], *outputs[0]),
            lambda: theirs(x, x, x, key_padding_mask=hidden, need_weights=False)[0] / largest,
            (x, *projections[1], *outputs[1]),
            sizes,
        )

    check()


@dtypes
@parity
def test_layer_equals_torch(dtype, std):
    @odd_and_random
    def check(sizes):
        g = sizes.generator()
        ours = redraw(TransformerLayer(sizes.hidden_dim, sizes.num_heads, sizes.intermediate_dim), std, g, dtype)
        theirs = nn.TransformerEncoderLayer(
            sizes.hidden_dim, sizes.num_heads, sizes.intermediate_dim, dropout=0.0, batch_first=True, dtype=dtype
        )
        projections = hand_over_projections(ours.attention, theirs.self_attn)
        parameters = hand_over(ours, theirs, TORCH)
        x = tokens(sizes, g, dtype).requires_grad_()
        mask = padding_mask(lengths_of(sizes, g), sizes.seq_len)
        hidden = ~mask[:, 0, 0]
        agree(
            lambda: ours(x, mask),
            (x, *projections[0], *parameters[0]),
            lambda: theirs(x, src_key_padding_mask=hidden),
            (x, *projections[1], *parameters[1]),
            sizes,
        )

    check()


@dtypes
@parity
def test_pre_norm_layer_equals_torch(dtype, std):
    """With the LayerNorm at the end that every pre-LN model has: without it, values reach 170, and their rounding errors 1e-5."""

    @odd_and_random
    def check(sizes):
        g = sizes.generator()
        arguments = (sizes.hidden_dim, sizes.num_heads, sizes.intermediate_dim)
        stack = TransformerStack([TransformerLayer(*arguments, pre_norm=True)], final_norm=nn.LayerNorm(sizes.hidden_dim))
        ours = redraw(stack, std, g, dtype)
        layer = nn.TransformerEncoderLayer(*arguments, dropout=0.0, batch_first=True, norm_first=True, dtype=dtype)
        norm = nn.LayerNorm(sizes.hidden_dim, dtype=dtype)
        theirs = nn.TransformerEncoder(layer, num_layers=1, norm=norm, enable_nested_tensor=False)
        names = {f"layers.0.{a}": f"layers.0.{b}" for a, b in TORCH.items()} | {"final_norm": "norm"}
        parameters = hand_over(ours, theirs, names)
        projections = hand_over_projections(ours.layers[0].attention, theirs.layers[0].self_attn)
        x = tokens(sizes, g, dtype).requires_grad_()
        mask = padding_mask(lengths_of(sizes, g), sizes.seq_len)
        hidden = ~mask[:, 0, 0]
        agree(
            lambda: ours(x, mask),
            (x, *projections[0], *parameters[0]),
            lambda: theirs(x, src_key_padding_mask=hidden),
            (x, *projections[1], *parameters[1]),
            sizes,
        )

    check()


@dtypes
@parity
def test_layer_equals_bert(dtype, std):
    @odd_and_random
    def check(sizes):
        g = sizes.generator()
        layer = TransformerLayer(
            sizes.hidden_dim, sizes.num_heads, sizes.intermediate_dim, activation=functional.gelu, layer_norm_eps=1e-12
        )
        ours, theirs = redraw(layer, std, g, dtype), bert_layer(sizes, dtype)
        parameters = hand_over(ours, theirs, BERT)
        x = tokens(sizes, g, dtype).requires_grad_()
        mask = padding_mask(lengths_of(sizes, g), sizes.seq_len)
        agree(lambda: ours(x, mask), (x, *parameters[0]), lambda: first(theirs(x, additive(mask, dtype))), (x, *parameters[1]), sizes)

    check()


@dtypes
def test_layer_can_be_alberts(dtype):
    """What chapter 04 builds on: the tanh form of GELU, eps 1e-12."""

    @odd_and_random
    def check(sizes):
        g = sizes.generator()
        gelu = partial(functional.gelu, approximate="tanh")
        layer = TransformerLayer(sizes.hidden_dim, sizes.num_heads, sizes.intermediate_dim, activation=gelu, layer_norm_eps=1e-12)
        ours, theirs = redraw(layer, 0.02, g, dtype), albert_layer(sizes, dtype)
        parameters = hand_over(ours, theirs, ALBERT)
        x = tokens(sizes, g, dtype).requires_grad_()
        mask = padding_mask(lengths_of(sizes, g), sizes.seq_len)
        agree(lambda: ours(x, mask), (x, *parameters[0]), lambda: first(theirs(x, additive(mask, dtype))), (x, *parameters[1]), sizes)

    check()


def test_the_parity_would_notice_a_layer_norm_with_eps_outside_the_root():
    x, weight, bias = torch.randn(4, 6, dtype=torch.float64), torch.ones(6, dtype=torch.float64), torch.zeros(6, dtype=torch.float64)
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    slip = (x - mean) / (variance.sqrt() + 1e-5)
    assert (slip - layer_norm(x, weight, bias)).abs().max() > 1e-7


# Counts: chapter 01's closed forms, PyTorch's counter, what autograd keeps


@odd_and_random
def test_modules_store_what_chapter_01_counts(sizes):
    hidden_dim, intermediate_dim = sizes.hidden_dim, sizes.intermediate_dim
    layer = TransformerLayer(hidden_dim, sizes.num_heads, intermediate_dim, pre_norm=not sizes.contiguous)
    assert count_parameters(layer.attention).stored == attention_parameters(hidden_dim)
    assert count_parameters(FeedForward(hidden_dim, intermediate_dim)).stored == feed_forward_parameters(hidden_dim, intermediate_dim)
    assert count_parameters(layer).stored == layer_parameters(hidden_dim, intermediate_dim)


def test_a_layer_listed_twelve_times_is_stored_once_and_applied_twelve_times():
    layer = TransformerLayer(8, 2, 12)
    count = count_parameters(TransformerStack([layer] * 12))
    assert (count.stored, count.applied) == (layer_parameters(8, 12), 12 * layer_parameters(8, 12))
    x, mask = torch.randn(2, 3, 8), causal_mask(3)
    wanted = x
    for _ in range(12):
        wanted = layer(wanted, mask)
    assert torch.equal(TransformerStack([layer] * 12)(x, mask), wanted)


def as_arguments(sizes: Sizes) -> dict[str, int]:
    return {
        "batch_size": sizes.batch_size,
        "seq_len": sizes.seq_len,
        "hidden_dim": sizes.hidden_dim,
        "num_heads": sizes.num_heads,
        "intermediate_dim": sizes.intermediate_dim,
    }


@odd_and_random
def test_operations_are_what_torch_counts(sizes):
    arguments = sizes.hidden_dim, sizes.num_heads, sizes.intermediate_dim
    x = torch.empty(sizes.batch_size, sizes.seq_len, sizes.hidden_dim, device="meta")
    parts = layer_operations(**as_arguments(sizes))
    for layer in (TransformerLayer(*arguments), nn.TransformerEncoderLayer(*arguments, batch_first=True)):
        with FlopCounterMode(display=False) as counter:
            layer.to("meta")(x)
        assert sum(parts.values()) == counter.get_total_flops()
        if isinstance(layer, TransformerLayer):
            per_module = {name: sum(flops.values()) for name, flops in counter.get_flop_counts().items()}
            assert parts["feed-forward"] == per_module["TransformerLayer.feed_forward"]
            assert parts["projections"] + parts["scores"] + parts["mixing"] == per_module["TransformerLayer.attention"]


def test_operations_hold_what_chapter_01_counts_and_the_pairs():
    parts = layer_operations(2, 128, 768, 12, 3072)
    per_token = four_ledgers(768, 12, 3072, 1)["No sharing (BERT)"]["operations per token"]
    assert parts["projections"] + parts["feed-forward"] == 2 * 128 * per_token
    crossing = layer_operations(1, 2 * 768 + 3072, 768, 12, 3072)
    assert crossing["scores"] + crossing["mixing"] == crossing["projections"] + crossing["feed-forward"]


def kept_bytes(layer: nn.Module, x: Tensor) -> int:
    """Bytes of the memory that autograd keeps for a backward pass, parameters aside."""
    parameters = {parameter.untyped_storage().data_ptr() for parameter in layer.parameters()}
    kept = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in parameters:
            kept[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        layer(x)
    return sum(storage.nbytes() for storage in kept.values())


@odd_and_random
def test_activation_bytes_are_what_autograd_keeps(sizes):
    counted = sum(layer_activation_bytes(**as_arguments(sizes)).values())
    x = torch.randn(sizes.batch_size, sizes.seq_len, sizes.hidden_dim)
    for pre_norm in (False, True):
        layer = TransformerLayer(sizes.hidden_dim, sizes.num_heads, sizes.intermediate_dim, pre_norm=pre_norm)
        assert kept_bytes(layer, x) == counted
    gelu = TransformerLayer(sizes.hidden_dim, sizes.num_heads, sizes.intermediate_dim, activation=functional.gelu)
    assert kept_bytes(gelu, x) == counted + 4 * sizes.batch_size * sizes.seq_len * sizes.intermediate_dim


@pytest.mark.parametrize("closed_form", [layer_operations, layer_activation_bytes])
@pytest.mark.parametrize("name", ["batch_size", "seq_len", "hidden_dim", "num_heads", "intermediate_dim"])
@pytest.mark.parametrize("size", [0, -1, 2.0, True])
def test_sizes_are_checked(closed_form, name, size):
    with pytest.raises((TypeError, ValueError), match=name):
        closed_form(**{**as_arguments(ONE_HEAD), name: size})

// Scaled dot-product attention. Forward is two products over all pairs of a query and a key,
// backward is five: the scores once more, and the gradients of scores, values, queries and keys.
#include <algorithm>
#include <array>

#include "analysis/costs/costs.h"

namespace stepscope::analysis {
namespace {

using AttentionPlace = std::size_t;
constexpr AttentionPlace kAttentionNowhere = 99;

enum class Layout : std::uint8_t { kHeadsFirst, kHeadsLast };      // (b, h, s, d) or (b, s, h, d)
enum class Causal : std::uint8_t { kTruth, kMaskType, kNothing };  // how the call says it

struct AttentionPlaces {
  std::string_view name;
  Layout layout;
  AttentionPlace causal;
  Causal says = Causal::kTruth;
  AttentionPlace query = 0;                    // 1: after the gradient of the output
  AttentionPlace lengths = kAttentionNowhere;  // given: sequences of several lengths are packed
  AttentionPlace window = kAttentionNowhere;   // how far queries see, where that is limited
  std::size_t windows = 2;                     // numbers it has: to the left and right, or one
  AttentionPlace mask = kAttentionNowhere;
  bool backward = false;
  AttentionPlace out = kAttentionNowhere;  // of backward
};

constexpr auto kFirst = Layout::kHeadsFirst;
constexpr auto kLast = Layout::kHeadsLast;
constexpr std::array kAttentionPlaces = std::to_array<AttentionPlaces>({
    {.name = "scaled_dot_product_attention", .layout = kFirst, .causal = 5, .mask = 3},
    {.name = "_scaled_dot_product_flash_attention", .layout = kFirst, .causal = 4},
    {.name = "_scaled_dot_product_efficient_attention", .layout = kFirst, .causal = 6, .mask = 3},
    {.name = "_scaled_dot_product_cudnn_attention", .layout = kFirst, .causal = 6, .mask = 3},
    {.name = "_scaled_dot_product_fused_attention_overrideable",
     .layout = kFirst,
     .causal = 5,
     .mask = 3},
    {.name = "_flash_attention_forward", .layout = kLast, .causal = 8, .lengths = 3, .window = 11},
    {.name = "_efficient_attention_forward",
     .layout = kLast,
     .causal = 9,
     .says = Causal::kMaskType,
     .lengths = 4,
     .window = 13,
     .windows = 1,
     .mask = 3},
    {.name = "_cudnn_attention_forward", .layout = kFirst, .causal = 10, .lengths = 4, .mask = 3},
    {.name = "flash_attn::_flash_attn_forward", .layout = kLast, .causal = 5, .window = 6},
    {.name = "_scaled_dot_product_flash_attention_backward",
     .layout = kFirst,
     .causal = 11,
     .query = 1,
     .lengths = 6,
     .backward = true,
     .out = 4},
    {.name = "_flash_attention_backward",
     .layout = kLast,
     .causal = 11,
     .query = 1,
     .lengths = 6,
     .window = 15,
     .backward = true,
     .out = 4},
    {.name = "_scaled_dot_product_efficient_attention_backward",
     .layout = kFirst,
     .causal = 11,
     .query = 1,
     .mask = 4,
     .backward = true,
     .out = 5},
    {.name = "_efficient_attention_backward",
     .layout = kLast,
     .causal = 14,
     .says = Causal::kMaskType,
     .query = 1,
     .lengths = 6,
     .window = 18,
     .windows = 1,
     .mask = 4,
     .backward = true,
     .out = 5},
    {.name = "_scaled_dot_product_cudnn_attention_backward",
     .layout = kFirst,
     .causal = 14,
     .query = 1,
     .lengths = 9,
     .mask = 8,
     .backward = true,
     .out = 4},
    {.name = "_scaled_dot_product_fused_attention_overrideable_backward",
     .layout = kFirst,
     .causal = 13,
     .query = 1,
     .lengths = 8,
     .mask = 4,
     .backward = true,
     .out = 6},
    {.name = "_cudnn_attention_backward",
     .layout = kFirst,
     .causal = 14,
     .query = 1,
     .lengths = 9,
     .mask = 8,
     .backward = true,
     .out = 4},
    {.name = "flash_attn::_flash_attn_backward",
     .layout = kLast,
     .causal = 11,
     .query = 1,
     .window = 12,
     .backward = true,
     .out = 4},
});

struct Sizes {
  std::int64_t batch, heads, queries, keys, depth, value_depth;
};

std::optional<Sizes> sizes_of(const Tensor& q, const Tensor& k, const Tensor& v, Layout layout) {
  if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4) return std::nullopt;
  const std::size_t head = layout == kFirst ? 1 : 2, place = layout == kFirst ? 2 : 1;
  const bool agree = q.dims[0] == k.dims[0] && k.dims[0] == v.dims[0] && q.dims[3] == k.dims[3] &&
                     k.dims[place] == v.dims[place] && k.dims[head] == v.dims[head];
  // Several heads of queries may share one of keys.
  if (!agree || k.dims[head] == 0 || q.dims[head] % k.dims[head] != 0) return std::nullopt;
  return Sizes{q.dims[0], q.dims[head], q.dims[place], k.dims[place], q.dims[3], v.dims[3]};
}

enum class Mask : std::uint8_t { kNone, kTopLeft, kBottomRight };

std::optional<Mask> mask_of(const Call& call, const AttentionPlaces& places) {
  if (places.says == Causal::kMaskType) {
    const auto type = whole_number(call.value(places.causal));
    if (!type || *type < 0 || *type > 2) return std::nullopt;
    return static_cast<Mask>(*type);
  }
  const auto causal = truth(call.value(places.causal));
  if (!causal) return std::nullopt;
  if (!*causal) return Mask::kNone;
  // The library itself lines both sequences up at their ends.
  return places.name.starts_with("flash_attn::") ? Mask::kBottomRight : Mask::kTopLeft;
}

// Pairs that a causal mask lets through: query i sees keys 0 … i + shift.
Amount pairs(const Sizes& sizes, Mask mask) {
  if (mask == Mask::kNone) return Amount(sizes.queries) * sizes.keys;
  const std::int64_t shift = mask == Mask::kTopLeft ? 0 : sizes.keys - sizes.queries;
  // Query i sees clamp(i + 1 + shift, 0, keys): an arithmetic series between two flat parts.
  const std::int64_t begin = std::clamp<std::int64_t>(-shift, 0, sizes.queries);
  const std::int64_t full = std::clamp<std::int64_t>(sizes.keys - shift, begin, sizes.queries);
  const Amount rising = full - begin;
  const Amount first = begin + 1 + shift, last = full + shift;
  const Amount twice = rising * (first + last);
  if (!twice.known()) return Amount::unknown();
  return Amount(*twice.value() / 2) + Amount(sizes.queries - full) * sizes.keys;
}

bool has_window(const Call& call, const AttentionPlaces& places) {
  if (places.window == kAttentionNowhere) return false;
  for (AttentionPlace at = places.window; at < places.window + places.windows; ++at) {
    if (!call.value(at).empty() && call.value(at) != "-1") return true;
  }
  return false;
}

Cost attention(const Call& call) {
  const AttentionPlaces& places =
      *std::ranges::find(kAttentionPlaces, call.formula.name, &AttentionPlaces::name);
  const Tensor* q = call.tensor(places.query);
  const Tensor* k = call.tensor(places.query + 1);
  const Tensor* v = call.tensor(places.query + 2);
  if (q == nullptr || k == nullptr || v == nullptr) return unknown(Missing::kInputs);
  if (places.lengths != kAttentionNowhere && call.tensor(places.lengths) != nullptr &&
      elements(*call.tensor(places.lengths)).value() != 0 &&
      call.tensor(places.lengths)->rank() > 0) {
    return unknown(Missing::kLengths);
  }
  const auto sizes = sizes_of(*q, *k, *v, places.layout);
  if (!sizes || q->dtype != k->dtype) return unknown(Missing::kInputs);
  const auto mask = mask_of(call, places);
  if (!mask) return unknown(Missing::kValues);
  if (has_window(call, places)) return unknown(Missing::kInputs);

  const Amount all = Amount(sizes->queries) * sizes->keys;
  const Amount seen = pairs(*sizes, *mask);
  const Amount heads = Amount(2) * sizes->batch * sizes->heads;
  const Amount depths = places.backward ? Amount(sizes->depth) * 3 + Amount(sizes->value_depth) * 2
                                        : Amount(sizes->depth) + sizes->value_depth;
  Cost cost;
  cost.dtype = q->dtype;
  cost.flops = heads * seen * depths;
  const Amount once =
      places.backward ? Amount(sizes->depth) * 2 + Amount(sizes->value_depth) * 2 : depths;
  const Amount hidden = all + seen * -1;
  cost.masked_flops = heads * hidden * once;
  if (places.backward) {
    cost.recomputed_flops = heads * seen * sizes->depth;
    cost.masked_recomputed_flops = heads * hidden * sizes->depth;
  }
  const Amount out =
      bytes(Amount(sizes->batch) * sizes->heads * sizes->queries * sizes->value_depth, q->dtype);
  cost.bytes = bytes(*q) + bytes(*k) + bytes(*v) + out;
  if (const Tensor* bias = call.tensor(places.mask)) cost.bytes += bytes(*bias);
  if (places.backward) {
    cost.bytes += out + bytes(elements(*q), q->dtype) + bytes(elements(*k), k->dtype) +
                  bytes(elements(*v), v->dtype);
  }
  return cost;
}

constexpr auto rows_attention() {
  std::array<Formula, kAttentionPlaces.size()> formulas{};
  for (std::size_t i = 0; i < kAttentionPlaces.size(); ++i) {
    formulas[i] = {kAttentionPlaces[i].name, Family::kAttention, attention};
  }
  return formulas;
}
constexpr auto kAttentionFormulas = rows_attention();

}  // namespace

std::span<const Formula> attention_formulas() { return kAttentionFormulas; }

}  // namespace stepscope::analysis

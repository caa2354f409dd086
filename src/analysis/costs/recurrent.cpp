// Recurrent networks that a library computes as a whole: for every step and direction of every
// layer a product with the layer's input and one with what the step before left.
#include <array>

#include "analysis/costs/costs.h"

namespace stepscope::analysis {
namespace {

using RecurrentPlace = std::size_t;
constexpr RecurrentPlace kRecurrentNowhere = 99;

// Where an operator has its arguments. Input, weights and how many of those a layer has stand
// first.
struct RecurrentPlaces {
  std::string_view name;
  RecurrentPlace buffer;  // all weights in one
  RecurrentPlace state;   // and after it that of cells
  RecurrentPlace mode, hidden, projected, layers, bidirectional;
  RecurrentPlace mask = kRecurrentNowhere;  // which gradients are asked for
};

constexpr std::array kRecurrentPlaces = std::to_array<RecurrentPlaces>({
    {"_cudnn_rnn", 3, 4, 6, 7, 8, 9, 13},
    {"_cudnn_rnn_backward", 3, 4, 10, 11, 12, 13, 17, 21},
    {"miopen_rnn", kRecurrentNowhere, 3, 5, 6, kRecurrentNowhere, 7, 11},
    {"miopen_rnn_backward", 3, 4, 10, 11, kRecurrentNowhere, 12, 16, 20},
});

struct Network {
  Amount rows = 0;  // steps of all sequences, also of packed ones
  Amount first = 0, others = 0, carried = 0, projecting = 0;  // weights of a direction of a layer
  Amount layers = 0, directions = 0;
  Amount biases = 0;
  Amount out_width = 0;
};

// Of relu, tanh, LSTM and GRU, in the order of their numbers.
std::optional<std::int64_t> gates_of(std::string_view mode) {
  const auto number = whole_number(mode);
  if (!number || *number < 0 || *number > 3) return std::nullopt;
  return *number == 2 ? 4 : *number == 3 ? 3 : 1;
}

std::optional<Network> network_of(const Call& call, const RecurrentPlaces& places,
                                  const Tensor& input) {
  const auto gates = gates_of(call.value(places.mode));
  const auto hidden = whole_number(call.value(places.hidden));
  const auto projected =
      places.projected == kRecurrentNowhere ? 0 : whole_number(call.value(places.projected));
  const auto layers = whole_number(call.value(places.layers));
  const auto both = truth(call.value(places.bidirectional));
  const auto of_layer = whole_number(call.value(2));
  if (!gates || !hidden || !projected || !layers || !both || !of_layer) return std::nullopt;
  if (*hidden < 0 || *projected < 0 || *layers < 1) return std::nullopt;
  const Amount wide = Amount(*gates) * *hidden;
  const std::int64_t left = *projected > 0 ? *projected : *hidden;
  Network net;
  net.rows = product(std::span(input.dims).first(input.rank() - 1));
  net.layers = *layers;
  net.directions = *both ? 2 : 1;
  net.first = wide * input.dims.back();
  net.others = wide * left * net.directions;
  net.carried = wide * left;
  net.projecting = Amount(*hidden) * *projected;
  if (*of_layer >= 4) net.biases = wide * 2;
  net.out_width = net.directions * left;
  return net;
}

Cost recurrent(const Call& call) {
  const RecurrentPlaces* places = nullptr;
  for (const RecurrentPlaces& known : kRecurrentPlaces) {
    if (known.name == call.formula.name) places = &known;
  }
  const Tensor* input = call.tensor(0);
  const Tensor* state = call.tensor(places->state);
  if (input == nullptr || state == nullptr || input->rank() < 2 || input->rank() > 3) {
    return unknown(Missing::kInputs);
  }
  const auto net = network_of(call, *places, *input);
  if (!net) return unknown(Missing::kValues);
  const Amount every = net->rows * net->directions;
  const Amount later = net->layers + -1;
  const Amount inner =
      net->others * later + (net->carried + net->projecting) * net->layers;  // without the input
  Cost cost;
  cost.dtype = input->dtype;
  const Tensor* weights = call.tensor(places->buffer);
  const Amount states = bytes(*state) + (call.tensor(places->state + 1) != nullptr
                                             ? bytes(*call.tensor(places->state + 1))
                                             : Amount(0));
  const Amount out = bytes(net->rows * net->out_width, input->dtype);
  if (places->mask == kRecurrentNowhere) {
    cost.flops = every * (net->first + inner) * 2 + every * net->layers * net->biases;
    cost.bytes = bytes(*input) + states * 2 + out;
    cost.bytes += weights != nullptr ? bytes(*weights) : Amount::unknown();
  } else {
    const auto mask = truths(call.value(places->mask));
    if (!mask || mask->size() != 4) return unknown(Missing::kValues);
    const bool of_input = mask->front(), of_weights = mask->back();
    cost.flops = every * ((of_input ? net->first : Amount(0)) + inner) * 2;
    if (of_weights) cost.flops += every * (net->first + inner) * 2;
    // Read: input, weights, states, output and its gradient; written: the gradients.
    cost.bytes = bytes(*input) + states * 2 + out * 2;
    if (of_input) cost.bytes += bytes(elements(*input), input->dtype);
    const Amount all = weights != nullptr ? bytes(*weights) : Amount::unknown();
    cost.bytes += of_weights ? all * 2 : all;
  }
  if (weights == nullptr) cost.missing = Missing::kLists;
  return cost;
}

constexpr auto rows_recurrent() {
  std::array<Formula, kRecurrentPlaces.size()> formulas{};
  for (std::size_t i = 0; i < kRecurrentPlaces.size(); ++i) {
    formulas[i] = {kRecurrentPlaces[i].name, Family::kMatrixProduct, recurrent};
  }
  return formulas;
}
constexpr auto kRecurrentFormulas = rows_recurrent();

}  // namespace

std::span<const Formula> recurrent_formulas() { return kRecurrentFormulas; }

}  // namespace stepscope::analysis

// All rules over one set of answers: findings in order of what they bring, what could not be
// judged, and the verdict.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advice/facts.h"
#include "advice/finding.h"

namespace stepscope::advice {

// The analyses that rules read; none twice.
std::vector<std::string_view> asked_analyses();

// Of a recording that has no trace, rules about time are not listed as not judged, nor those about
// snapshots where there is none: they are not expected.
struct Scope {
  bool trace = true;
  bool snapshot = false;
  // What is wrong with the files, as a sentence: cut, or read in part. Empty: all was read.
  std::string lost = {};
  bool chosen_steps = false;  // by number
  bool failed = false;        // a process of the run ended by an error or a signal
  // Nothing marks the steps, they are what repeats on the device: of the recording, the share that
  // they leave out. Nothing: they are marked, or there are none.
  std::optional<double> left_out_by_guess = std::nullopt;
};
Advice advise(const Facts& facts, const Scope& scope);

// Findings beside each other: causes that overlap are not counted twice, and the gravest
// stands first.

void rank_findings(const Facts& facts, Advice& advice);

// The sentences above the findings: what is wrong in one line, what the first fix leaves, or that
// the run is healthy and where its ceiling is.

std::vector<Sentence> verdict(const Facts& facts, const Advice& advice, const Scope& scope);

}  // namespace stepscope::advice

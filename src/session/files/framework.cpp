#include "session/files/framework.h"

#include <string>
#include <string_view>

namespace stepscope::session {
namespace {

using advice::Framework;

// Lightning marks its own ranges; the others show only in Python's frames.
Framework framework_of(const trace::Trace& trace) {
  if (trace.steps().source == trace::StepSource::kLightning) return Framework::kLightning;
  for (const auto& [key, value] : trace.header().metadata) {
    if (key == "Framework" && value.find("lightning") != std::string::npos) {
      return Framework::kLightning;
    }
  }
  Framework found = Framework::kPyTorch;
  for (std::size_t id = 0; id < trace.strings().size(); ++id) {
    const std::string_view text = trace.text(static_cast<base::StringId>(id));
    if (text.starts_with("[pl]") || text.starts_with("[Strategy]") ||
        text.find("lightning/pytorch/trainer") != std::string_view::npos ||
        text.find("pytorch_lightning/trainer") != std::string_view::npos) {
      return Framework::kLightning;
    }
    if (text.find("transformers/trainer.py") != std::string_view::npos) {
      found = Framework::kHuggingFace;
    }
  }
  return found;
}

// Who began a recording of ours: "profile", "run", "command" (by `stepscope run`, from within the
// program and from outside), "lightning", …; empty: somebody else, or one of
// before it was noted.
std::string recorder_name(const Recording& recording) {
  for (const trace::RankTraces& rank : recording.run.ranks) {
    for (const trace::Window& window : rank.windows) {
      for (const auto& [key, value] : window.trace.header().metadata) {
        if (key != "recorded_by") continue;
        std::string name = value;  // JSON
        std::erase(name, '"');
        return name;
      }
    }
  }
  return {};
}

}  // namespace

Framework framework_of(const Recording& recording) {
  const std::string who = recorder_name(recording);
  if (who == "lightning") return Framework::kLightning;
  if (who == "transformers") return Framework::kHuggingFace;
  for (const trace::RankTraces& rank : recording.run.ranks) {
    for (const trace::Window& window : rank.windows) {
      if (const Framework found = framework_of(window.trace); found != Framework::kPyTorch) {
        return found;
      }
    }
  }
  return Framework::kPyTorch;
}

advice::Recorder recorder_of(const Recording& recording) {
  const std::string who = recorder_name(recording);
  if (who == "run" || who == "command") return advice::Recorder::kRunCommand;
  if (who == "profile" || (who.empty() && !recording.rank_records.empty())) {
    return advice::Recorder::kProfile;
  }
  return who.empty() ? advice::Recorder::kTorchProfiler : advice::Recorder::kCallback;
}

}  // namespace stepscope::session

#include "cli/output/flame_graph.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/standard_input.h"
#include "cli/output/output_file.h"
#include "cli/terminal/console.h"
#include "report/charts/flame_graph.h"
#include "report/charts/folded.h"
#include "report/writing/numbers.h"

namespace stepscope::cli {
namespace {

const base::Table* frames_of(const analysis::Answer& answer) {
  for (const base::Table& table : answer.tables) {
    if (table.name() == "frames") return &table;
  }
  return nullptr;
}

bool is_device(const Parameters& given) {
  const auto metric = given.find("metric");
  return metric != given.end() && metric->second == "device";
}

// "trace.json.gz", "trace.json.gz and 7 more"
std::string title_of(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.words();
  if (words.size() < 2) return "stacks";
  std::filesystem::path path(words[1]);
  if (!path.has_filename()) path = path.parent_path();
  std::string title(base::name_of_input(path.filename().string()));
  if (words.size() > 2) title += fmt::format(" and {} more", words.size() - 2);
  return title;
}

}  // namespace

base::Status check_flame_graph(const Context& context, const analysis::Analysis& about) {
  const Arguments& arguments = context.arguments;
  const bool folded = arguments.text("format") == "folded";
  if ((!folded && !arguments.has("svg")) || about.name == "stacks") {
    const std::string path = arguments.text("svg");
    return path.empty() || path == "-" ? base::Status(base::Done{}) : check_folder_of(path);
  }
  return base::fail(base::Code::kInvalidArgument,
                    fmt::format("{} has no stacks; {} is for `stepscope analyze stacks`",
                                about.name, folded ? "-f folded" : arguments.origin("svg")));
}

std::string folded_of(const analysis::Answer& answer, const Parameters& given) {
  const base::Table* frames = frames_of(answer);
  if (frames == nullptr) return {};
  return report::folded_text(*frames, is_device(given) ? "device_self_ns" : "host_self_ns");
}

base::Status write_svg(const Context& context, const analysis::Answer& answer,
                       const Parameters& given) {
  const base::Table* frames = frames_of(answer);
  if (frames == nullptr) return base::Done{};
  const std::string path = context.arguments.text("svg");
  const bool device = is_device(given);
  const report::FlameGraphText text{
      .title = title_of(context.arguments),
      .about = device ? "GPU time by the stack that launched it" : "time on the host by stack"};
  const std::string svg = report::flame_graph_svg(*frames, device ? "device_ns" : "host_ns", text);
  if (path == "-") return context.console.write(svg);
  SCOPE_TRY(write_file(path, svg, context.interrupt));
  context.console.note(
      fmt::format("wrote {} ({}): open it in a browser", path, report::bytes_text(svg.size())));
  return base::Done{};
}

}  // namespace stepscope::cli

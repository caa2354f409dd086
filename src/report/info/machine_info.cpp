// The samples of machines as text and JSON.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/standard_input.h"
#include "report/info/info_facts.h"
#include "report/info/info_text.h"
#include "report/info/notes.h"
#include "report/writing/numbers.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kMostUnseen = 8;

std::string sampled_text(const MachineInfo& machine) {
  if (machine.samples == 0) return "nothing: it holds no samples";
  std::string text = duration_text(machine.span_ns) + " long";
  if (machine.start_unix_ns != 0) {
    text = fmt::format("from {}, {}", unix_time_text(machine.start_unix_ns), text);
  }
  if (machine.interval_ns > 0) text += ", every " + duration_text(machine.interval_ns);
  return text;
}

std::vector<NamedText> facts_of(const MachineInfo& machine, bool all) {
  std::vector<NamedText> facts;
  if (!machine.host.empty()) facts.push_back({"machine", printable(machine.host)});
  facts.push_back({"sampled", sampled_text(machine)});
  facts.push_back(
      {"samples", fmt::format("{} of {} series at {}", counted(machine.values, "value"),
                              count_text(machine.series), counted(machine.samples, "moment"))});
  const std::size_t shown =
      all ? machine.unseen.size() : std::min(kMostUnseen, machine.unseen.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const NamedText& one = machine.unseen[i];
    facts.push_back({i == 0 ? "not seen" : "",
                     one.name.empty()
                         ? printable(one.text)
                         : fmt::format("{}: {}", printable(one.name), printable(one.text))});
  }
  if (shown < machine.unseen.size()) {
    facts.push_back({"", fmt::format("and {} more; `stepscope info --all` shows every one",
                                     count_text(machine.unseen.size() - shown))});
  }
  if (machine.sampler_ns > 0) {
    facts.push_back({"cost", duration_text(machine.sampler_ns) + " of processor time"});
  }
  return facts;
}

}  // namespace

std::string machines_text(std::span<const MachineInfo> machines, const InfoTextOptions& options) {
  const Look& look = options.look;
  std::string text;
  for (const MachineInfo& machine : machines) {
    if (!text.empty()) text += '\n';
    const std::string odd = notes_text(machine.notes, "", look);
    text +=
        styled(fmt::format("samples of a machine {}", printable(base::name_of_input(machine.path))),
               Style::kStrong, look) +
        "\n\n" + facts_text(facts_of(machine, options.all), look) +
        (odd.empty() ? nothing_odd_text(look) : odd);
  }
  return text;
}

void write_machines(JsonWriter& json, std::span<const MachineInfo> machines) {
  json.begin_list();
  for (const MachineInfo& machine : machines) {
    json.begin_object();
    json.member("path", machine.path);
    json.key("host");
    machine.host.empty() ? json.null() : json.value(machine.host);
    json.key("start_unix_ns");
    machine.start_unix_ns == 0 ? json.null() : json.value(machine.start_unix_ns);
    json.member("span_ns", machine.span_ns);
    json.key("interval_ns");
    machine.interval_ns == 0 ? json.null() : json.value(machine.interval_ns);
    json.member("samples", machine.samples);
    json.member("series", machine.series);
    json.member("values", machine.values);
    json.key("unseen");
    json.begin_list();
    for (const NamedText& one : machine.unseen) {
      json.begin_object();
      json.member("source", one.name);
      json.member("text", one.text);
      json.end_object();
    }
    json.end_list();
    json.member("finished", machine.finished);
    json.key("sampler_cpu_ns");
    machine.finished ? json.value(machine.sampler_ns) : json.null();
    json.end_object();
  }
  json.end_list();
}

}  // namespace stepscope::report

// Names of files and folders in the folder of a run.
#include "session/files/run_folder.h"

#include <algorithm>
#include <filesystem>

#include "base/number_text.h"
#include "bytes/source_within.h"

namespace stepscope::session {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<std::uint64_t> attempt_number(std::string_view folder_name) {
  constexpr std::string_view kAttempt = "attempt-";
  if (!folder_name.starts_with(kAttempt)) return std::nullopt;
  folder_name.remove_prefix(kAttempt.size());
  return base::parse_number<std::uint64_t>(folder_name);
}

bool says_run(std::string_view text) {
  constexpr std::size_t kHead = 256;
  return text.substr(0, kHead).find("\"stepscope.run/") != std::string_view::npos;
}

std::string run_id(std::string_view text) {
  constexpr std::string_view kKey = "\"id\"";
  std::size_t at = text.find(kKey);
  if (at == std::string_view::npos) return {};
  at = text.find('"', at + kKey.size());
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + 1);
  return std::string(rest.substr(0, rest.find('"')));
}

std::string named_run(std::span<const std::string> paths) {
  if (paths.size() != 1 || paths.front().empty()) return {};
  std::error_code error;
  const std::filesystem::path folder = paths.front();
  if (!std::filesystem::is_regular_file(folder / "run.json", error)) return {};
  std::string name = paths.front();
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  return name;
}

bool holds_no_recording(std::string_view folder_name) { return folder_name == "report"; }

bool is_in_rank_folder(std::string_view path) {
  constexpr std::string_view kRank = "rank";
  constexpr std::size_t kDigits = 5;
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view folder = path.substr(0, slash);
  const std::string_view name = folder.substr(folder.rfind('/') + 1);
  return name.starts_with(kRank) && name.size() >= kRank.size() + kDigits &&
         is_number(name.substr(kRank.size()));
}

std::string model_beside(std::string_view path, const std::string& within) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = path.substr(slash + 1);
  if (name != "events.scope" && name != "events.scope.partial") return {};
  const std::string folder(slash == std::string_view::npos ? "" : path.substr(0, slash + 1));
  return bytes::whole_file(within, folder + "model.json").value_or(std::string());
}

std::optional<std::string_view> without_partial(std::string_view file_name) {
  constexpr std::string_view kPartial = ".partial";
  if (!file_name.ends_with(kPartial)) return std::nullopt;
  return file_name.substr(0, file_name.size() - kPartial.size());
}

}  // namespace stepscope::session

// The folder that stepscope.profile writes (docs/formats/run-folder.md): what its names mean.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stepscope::session {

// The N of attempt-N: a run that was started again under the same name.
std::optional<std::uint64_t> attempt_number(std::string_view folder_name);

// Whether this is the text of a run.json that stepscope wrote, and no other program.
bool says_run(std::string_view text);

// The id in such a text: the same in every part of one run. Empty where there is none.
std::string run_id(std::string_view text);

// The run that these paths name: one folder, with the run.json that stepscope wrote. Without the
// slash at its end; empty where they name something else.
std::string named_run(std::span<const std::string> paths);

// A folder of a run that holds nothing recorded: finished reports.
bool holds_no_recording(std::string_view folder_name);

// Whether the folder a file lies in is one that stepscope made for a rank.
bool is_in_rank_folder(std::string_view path);

// The text of the model.json beside the recording of a training process; empty for other files.
// Nothing outside of the folder `within` is read, where one is given.
std::string model_beside(std::string_view path, const std::string& within = {});

// The name without ".partial", which a writer takes away when it is done.
std::optional<std::string_view> without_partial(std::string_view file_name);

}  // namespace stepscope::session

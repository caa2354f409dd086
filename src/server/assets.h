// The files of the built page. Only names that were found in the folder are served, so that no
// request can lead out of it.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "server/request.h"

namespace stepscope::server {

class Assets {
 public:
  // An empty folder name: the page is not there.
  explicit Assets(std::string folder);

  // "" is the page itself. Nothing for names that are none of its files.
  std::optional<Response> file(std::string_view name);

 private:
  void look();  // which files there are

  std::string folder_;
  std::mutex mutex_;
  std::map<std::string, Response, std::less<>> files_;
};

}  // namespace stepscope::server

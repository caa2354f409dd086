// Libraries of GPU makers are opened at run time: the program is built without them and runs
// where they are not.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "doctor/check.h"

namespace stepscope::doctor {

class Library {
 public:
  // The first of `names` that opens, where the system looks and then in the packages' folders.
  // Never closed again: drivers do not take it well.
  static std::optional<Library> open(const Place& place, std::span<const std::string_view> names,
                                     std::string& why_not);

  template <class Function>
  bool find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(symbol(name));
    return function != nullptr;
  }
  const std::string& path() const { return path_; }

 private:
  void* symbol(const char* name) const;
  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace stepscope::doctor

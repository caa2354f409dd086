# Third-party libraries, found by name. Where each comes from: docs/dev/dependencies.md.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(yaml-cpp REQUIRED)

pkg_check_modules(isal REQUIRED IMPORTED_TARGET libisal)
add_library(isal::isal ALIAS PkgConfig::isal)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
add_library(zstd::zstd ALIAS PkgConfig::zstd)

find_path(PROTOZERO_INCLUDE protozero/pbf_writer.hpp REQUIRED)
add_library(protozero::protozero INTERFACE IMPORTED)
target_include_directories(protozero::protozero SYSTEM INTERFACE ${PROTOZERO_INCLUDE})

if(STEPSCOPE_DEVELOPER)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  enable_testing()  # here, not in a function: it sets a variable of the folder
endif()

# Third-party libraries, found by name. Where each comes from: docs/dev/dependencies.md.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(yaml-cpp REQUIRED)
# Its archive where there is one: the shared library would bring a second C++ library into the Python extension.
find_library(YAML_CPP_ARCHIVE libyaml-cpp.a)
if(YAML_CPP_ARCHIVE)
  get_target_property(configurations yaml-cpp IMPORTED_CONFIGURATIONS)
  foreach(configuration ${configurations})
    set_target_properties(yaml-cpp PROPERTIES IMPORTED_LOCATION_${configuration} ${YAML_CPP_ARCHIVE})
  endforeach()
endif()

pkg_check_modules(isal REQUIRED IMPORTED_TARGET libisal)
add_library(isal::isal ALIAS PkgConfig::isal)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
add_library(zstd::zstd ALIAS PkgConfig::zstd)

find_path(PROTOZERO_INCLUDE protozero/pbf_writer.hpp REQUIRED)
add_library(protozero::protozero INTERFACE IMPORTED)
target_include_directories(protozero::protozero SYSTEM INTERFACE ${PROTOZERO_INCLUDE})

# Headers only. Sockets need no more than what every C++ program has.
find_path(BOOST_INCLUDE boost/beast/http.hpp REQUIRED)
add_library(boost::headers INTERFACE IMPORTED)
target_include_directories(boost::headers SYSTEM INTERFACE ${BOOST_INCLUDE})

if(STEPSCOPE_DEVELOPER)
  find_package(GTest REQUIRED)
  enable_testing()  # here, not in a function: it sets a variable of the folder
endif()

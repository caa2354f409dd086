# A room is one folder under src/, one static library, one namespace. Its unit tests stand beside
# its sources as *_test.cpp and become one test program, <room>_tests; `unit_tests` builds them all,
# the default build none of them.
add_custom_target(unit_tests)

function(add_room name)
  cmake_parse_arguments(ROOM "" "" "LINK;PRIVATE_LINK;PRECOMPILE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  if(sources)
    add_library(stepscope_${name} STATIC ${sources})
    target_include_directories(stepscope_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(stepscope_${name} PUBLIC ${ROOM_LINK} PRIVATE ${ROOM_PRIVATE_LINK})
    precompile(stepscope_${name} REUSE stepscope_base ADD ${ROOM_PRECOMPILE})
    combine(stepscope_${name})
    optimise_by_room(stepscope_${name})
  else()
    add_library(stepscope_${name} INTERFACE)
    target_include_directories(stepscope_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(stepscope_${name} INTERFACE ${ROOM_LINK} ${ROOM_PRIVATE_LINK})
  endif()
  add_library(stepscope::${name} ALIAS stepscope_${name})
  if(STEPSCOPE_DEVELOPER AND tests)
    add_room_tests(${name} "${tests}")
  endif()
endfunction()

# Only the rooms that work on bytes and events, one by one, repay -O3. The others take a third less time to compile at
# -O1, with a collector of the compiler's own memory that runs less often, and answer as fast.
set(STEPSCOPE_HOT base bytes wire trace memory series ingest capture)
function(optimise_by_room target)
  string(REGEX REPLACE "^stepscope_" "" room ${target})
  if(NOT room IN_LIST STEPSCOPE_HOT)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE "SHELL:--param ggc-min-expand=400 --param ggc-min-heapsize=1000000")
    endif()
  endif()
endfunction()

# Everything but main.cpp is a room like the others, so that it can be tested.
function(add_program name folder)
  cmake_parse_arguments(PROGRAM "" "" "LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  add_library(stepscope_${folder} STATIC ${sources})
  target_link_libraries(stepscope_${folder} PUBLIC ${PROGRAM_LINK})
  precompile(stepscope_${folder})
  combine(stepscope_${folder})
  optimise_by_room(stepscope_${folder})
  target_compile_definitions(stepscope_${folder} PUBLIC STEPSCOPE_VERSION="${PROJECT_VERSION}")
  add_library(stepscope::${folder} ALIAS stepscope_${folder})
  add_executable(${name} ${PROJECT_SOURCE_DIR}/src/${folder}/main.cpp)
  target_link_libraries(${name} PRIVATE stepscope::${folder})
  if(STEPSCOPE_DEVELOPER AND tests)
    add_room_tests(${folder} "${tests}")
  endif()
endfunction()

function(add_room_tests name tests)
  add_executable(${name}_tests EXCLUDE_FROM_ALL ${tests})
  target_link_libraries(${name}_tests PRIVATE stepscope::${name} GTest::gtest GTest::gmock GTest::gtest_main)
  # The sources under test are optimised; optimising the tests takes longer than running them. But those of capture run
  # what the headers inline into a training, and have to outrun the thread that writes it.
  if(NOT name STREQUAL capture)
    target_compile_options(${name}_tests PRIVATE $<$<CONFIG:Release>:-O0>)
  endif()
  if(name STREQUAL base OR name STREQUAL cli)  # cli has a definition of its own
    precompile(${name}_tests ADD <gtest/gtest.h> <gmock/gmock.h>)
  else()
    precompile(${name}_tests REUSE base_tests)
  endif()
  combine(${name}_tests)
  add_dependencies(unit_tests ${name}_tests)
  # One process for all of a room: with sanitizers, one for each test takes four times as long.
  add_test(NAME ${name} COMMAND ${name}_tests --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES TIMEOUT 600)  # a test that hangs fails
endfunction()

# What most files include, parsed once: for all rooms together in the first, and again where a room
# adds to it or is built with other flags. The builds of the gate ask for it, which halves their time; which file
# forgets an include is seen by clang-tidy (tools/tidy.py) and by the presets that do not ask.
function(precompile target)
  cmake_parse_arguments(PRECOMPILE "" "REUSE" "ADD" ${ARGN})
  if(NOT STEPSCOPE_PRECOMPILE)
    return()
  endif()
  if(PRECOMPILE_REUSE AND NOT PRECOMPILE_ADD AND NOT target STREQUAL PRECOMPILE_REUSE)
    target_precompile_headers(${target} REUSE_FROM ${PRECOMPILE_REUSE})
  else()
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cstdint> <functional> <map> <memory> <optional>
                              <set> <span> <string> <string_view> <unordered_map> <utility> <vector> <fmt/format.h>
                              ${PRECOMPILE_ADD})
  endif()
endfunction()

# Sources that are compiled a few at a time (tools/unity.py says which can be): that takes half as long. Rooms whose
# loops decide how fast a trace loads are not where a compiler optimises: what it makes of a loop must not depend on
# the loop's neighbours.
set(STEPSCOPE_ALONE base bytes wire trace memory series ingest)

function(combine target)
  string(REGEX REPLACE "^stepscope_" "" room ${target})
  if(NOT STEPSCOPE_UNITY OR (room IN_LIST STEPSCOPE_ALONE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug"))
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set_property(GLOBAL APPEND PROPERTY STEPSCOPE_COMBINED ${target})
endfunction()

# When all targets are known.
function(group_sources)
  get_property(targets GLOBAL PROPERTY STEPSCOPE_COMBINED)
  if(NOT targets)
    return()
  endif()
  find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)
  set(lines "")
  foreach(target ${targets})
    get_target_property(sources ${target} SOURCES)
    list(JOIN sources " " sources)
    string(APPEND lines "${target} ${sources}\n")
  endforeach()
  set(folder ${PROJECT_BINARY_DIR}/unity)
  file(WRITE ${folder}/targets.txt "${lines}")
  execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/unity.py ${PROJECT_BINARY_DIR}
                  COMMAND_ERROR_IS_FATAL ANY)
  include(${folder}/groups.cmake)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/groups.cmake)
endfunction()

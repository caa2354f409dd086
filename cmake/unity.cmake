# Sources of a room compiled a few dozen at a time: most of what one takes is the headers and the templates that it
# shares with its neighbours. So no two sources of a room may give a private thing the same name. Rooms whose loops decide
# how fast a trace loads are compiled one by one: what a compiler makes of a loop must not depend on the loop's neighbours.
set(STEPSCOPE_ALONE base bytes wire trace memory series)
# Of ingest, the readers of small files are compiled together: half of what each takes is the JSON library.
set(STEPSCOPE_SMALL_READERS "/ingest/([a-z_]+\\.cpp|kineto/header\\.cpp|(memory_json|rank_json|scope|system)/)")

function(combine target)
  string(REGEX REPLACE "^stepscope_" "" room ${target})
  if(NOT STEPSCOPE_UNITY OR room IN_LIST STEPSCOPE_ALONE)
    return()
  endif()
  if(room STREQUAL ingest)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX ${STEPSCOPE_SMALL_READERS})
    set_source_files_properties(${sources} PROPERTIES UNITY_GROUP small_readers)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE BATCH UNITY_BUILD_BATCH_SIZE 24)
  # Files with macros, or with the names of an enumeration at hand, keep them to themselves.
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    file(STRINGS ${source} own REGEX "^[ \t]*#[ \t]*define|^using (enum|namespace)" LIMIT_COUNT 1)
    if(own)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

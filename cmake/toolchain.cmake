# Compiler and linker settings that hold for every target.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Nothing here is meant to be replaced at load time; saying so lets the compiler inline within a file.
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
add_compile_options(-fno-semantic-interposition)

# 2009 and later: counting bits takes one instruction. Anything newer is chosen at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-march=x86-64-v2)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wconversion)
if(STEPSCOPE_WERROR)
  add_compile_options(-Werror)
endif()
if(STEPSCOPE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The checks that sanitizers put in make g++ 12 see uninitialised values in its own <regex>.
  add_compile_options(-Wno-maybe-uninitialized)
endif()
if(STEPSCOPE_SANITIZE)
  add_compile_options(-fsanitize=${STEPSCOPE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${STEPSCOPE_SANITIZE})
endif()

if(STEPSCOPE_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 is wrong about its own <string>, and silent only where it knows the header for the system's.
  add_compile_options(-Wno-array-bounds -Wno-restrict -Wno-stringop-overread -Wno-stringop-overflow)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  if(STEPSCOPE_PRECOMPILE)  # without these, ccache leaves precompiled headers and all that use them alone
    # Comments count: a precompiled header knows its own by all of their text (#pragma once).
    set(CCACHE_PROGRAM ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_NOHASHDIR=1
        CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_COMMENTS=1 ${CCACHE_PROGRAM})
    add_compile_options("$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>"
                        $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()

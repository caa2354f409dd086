# Compiler and linker settings that hold for every target.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wconversion)
if(STEPSCOPE_WERROR)
  add_compile_options(-Werror)
endif()
if(STEPSCOPE_SANITIZE)
  add_compile_options(-fsanitize=${STEPSCOPE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${STEPSCOPE_SANITIZE})
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM AND NOT STEPSCOPE_SANITIZE)
  add_link_options(-fuse-ld=mold)
endif()

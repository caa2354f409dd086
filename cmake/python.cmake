# The extension module of the Python package: stepscope._core. Built by `pip install .`, and by `make
# python` beside the sources, over the libraries of the program.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
                OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/python/*.cpp)
nanobind_add_module(_core NB_STATIC NB_DOMAIN stepscope STABLE_ABI ${sources})
foreach(library nanobind-static nanobind-static-abi3)  # the second where Python is 3.12 or newer
  if(TARGET ${library})
    target_compile_options(${library} PRIVATE -w)
  endif()
endforeach()
target_link_libraries(_core PRIVATE stepscope::cli)
# The system's C++ library may be older than ours, and other extensions must not meet ours.
target_link_options(_core PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL)
if(NOT SKBUILD)  # importable where its Python files are
  set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_SOURCE_DIR}/python/stepscope)
endif()
install(TARGETS _core LIBRARY DESTINATION stepscope)

# The extension module of the Python package: stepscope._core. Built by `pip install .`, and by `make
# python` beside the sources, over the libraries of the program.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
                OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/python/*.cpp)
nanobind_add_module(_core NB_STATIC NB_DOMAIN stepscope ${sources})
target_compile_options(nanobind-static PRIVATE -w)
target_link_libraries(_core PRIVATE stepscope::cli)
# The system's C++ library may be older than ours, and other extensions must not meet ours. Of the shared libraries
# those that nothing needs are left out: linked_in.cpp has fmt. mold keeps a call to arc4random that is never made,
# and with it the need for a C library of 2022.
target_link_options(_core PRIVATE -static-libstdc++ -Wl,--exclude-libs,ALL -Wl,--as-needed -fuse-ld=bfd)
if(NOT SKBUILD)  # importable where its Python files are
  set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_SOURCE_DIR}/python/stepscope)
endif()
install(TARGETS _core LIBRARY DESTINATION stepscope)
# The page of `stepscope serve`, where it was built.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/build/web DESTINATION stepscope OPTIONAL)

# What a wheel holds of others: the list of it (PEP 770) and the licences. Without them there is no wheel.
if(SKBUILD)
  set(page ${PROJECT_SOURCE_DIR}/build/web)
  install(CODE "
    if(EXISTS \"${page}\")
      set(page --page \"${page}\")
    endif()
    execute_process(COMMAND \"${Python_EXECUTABLE}\" \"${PROJECT_SOURCE_DIR}/tools/sbom.py\" --out \"${SKBUILD_METADATA_DIR}\" \${page}
                    COMMAND_ERROR_IS_FATAL ANY)" COMPONENT sbom)
endif()

# The recorder: a library of its own, so that native code and Python meet in one copy of it, and a
# small module over it. Loaded into training processes, so nothing of the analysis core is in them.
add_library(stepscope_recorder SHARED $<TARGET_OBJECTS:stepscope_capture>)
set_target_properties(stepscope_recorder PROPERTIES OUTPUT_NAME stepscope_capture LINKER_LANGUAGE CXX)
target_include_directories(stepscope_recorder PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(stepscope_recorder PRIVATE stepscope::wire Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(stepscope_recorder PRIVATE -static-libstdc++ -Wl,--gc-sections -Wl,--exclude-libs,ALL -Wl,--as-needed -fuse-ld=bfd)
python_add_library(_capture MODULE ${PROJECT_SOURCE_DIR}/src/python/capture/module.cpp WITH_SOABI)
target_link_libraries(_capture PRIVATE stepscope_recorder)
target_include_directories(_capture PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(_capture PRIVATE STEPSCOPE_VERSION="${PROJECT_VERSION}")
target_link_options(_capture PRIVATE -static-libstdc++ -Wl,--gc-sections -Wl,--exclude-libs,ALL -Wl,--as-needed -fuse-ld=bfd)
set_target_properties(_capture PROPERTIES INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
if(NOT SKBUILD)
  set_target_properties(_capture stepscope_recorder PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_SOURCE_DIR}/python/stepscope)
endif()
install(TARGETS _capture stepscope_recorder LIBRARY DESTINATION stepscope)
install(FILES ${PROJECT_SOURCE_DIR}/include/stepscope/stepscope.h DESTINATION stepscope/include/stepscope)

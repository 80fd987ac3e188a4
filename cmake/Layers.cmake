# Turns each line of layers.txt into a library `dibs_<layer>` and, with tests on, a program `<layer>_tests`.

# One test program from the given sources; each of its TESTs becomes one CTest test `<prefix>NAME/Suite.Name`.
function(dibs_unit_tests name label)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name}_tests ${arg_SOURCES})
  target_link_libraries(${name}_tests PRIVATE ${arg_LINK} dibs_testing GTest::gtest_main rapidcheck_gtest)
  dibs_precompile(${name}_tests tests)
  # Listing at test time, not after linking: a build never waits for a program to run.
  gtest_discover_tests(${name}_tests
    TEST_PREFIX "${DIBS_TEST_PREFIX}${name}/"
    DISCOVERY_MODE PRE_TEST
    PROPERTIES LABELS ${label} TIMEOUT 300)
endfunction()

# In the preset `test` ten files are compiled as one. These are not: what is private to them has the same name elsewhere
# in their layer, for a good reason, as every file of commands has its `kCommands`.
set(dibs_alone cli/ items/aitasks items/beads items/folder items/foreign items/front_matter items/headed_text items/keyed)

function(dibs_compile_alone)
  foreach(source IN LISTS ARGN)
    foreach(part IN LISTS dibs_alone)
      if(source MATCHES "/src/${part}")
        set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      endif()
    endforeach()
  endforeach()
endfunction()

function(dibs_layer name)
  set(dir ${CMAKE_SOURCE_DIR}/src/${name})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cc)
  set(tests ${sources})
  dibs_compile_alone(${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")

  list(TRANSFORM ARGN PREPEND dibs_ OUTPUT_VARIABLE uses)
  if(sources)
    add_library(dibs_${name} STATIC ${sources})
    target_link_libraries(dibs_${name} PUBLIC ${uses} dibs_settings)
    dibs_precompile(dibs_${name} code)
  else()
    add_library(dibs_${name} INTERFACE)  # headers only, or not written yet
    target_link_libraries(dibs_${name} INTERFACE ${uses} dibs_settings)
  endif()

  if(tests AND DIBS_TESTS)
    dibs_unit_tests(${name} unit SOURCES ${tests} LINK dibs_${name})
  endif()
endfunction()

# Declares every layer and leaves their libraries in `out`, all but the fakes.
function(dibs_layers out)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/layers.txt)
  file(STRINGS ${CMAKE_SOURCE_DIR}/cmake/layers.txt lines REGEX "^[a-z]")
  set(libraries)
  foreach(line IN LISTS lines)
    string(REGEX REPLACE " +" ";" words "${line}")
    dibs_layer(${words})
    list(GET words 0 name)
    if(NOT name STREQUAL "testing")
      list(APPEND libraries dibs_${name})
    endif()
  endforeach()
  set(${out} ${libraries} PARENT_SCOPE)
endfunction()

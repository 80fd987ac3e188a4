# How every file is compiled and linked: `dibs_settings` carries it to all targets.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)  # for clang-tidy and editors
# Asserts stay on in release: a broken promise must stop, not go on with wrong leases. So no NDEBUG.
# -g1 keeps line numbers for backtraces at a fraction of full debug information; for a debugger, configure with
# -DCMAKE_CXX_FLAGS=-g.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g1")

find_program(CCACHE ccache)
if(CCACHE)
  # Without this it does not cache what is compiled with precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER /usr/bin/env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

# Present is not enough: the compiler has to know the name too.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=mold DIBS_MOLD_WORKS)
if(DIBS_MOLD_WORKS)
  add_link_options(-fuse-ld=mold)
endif()

add_library(dibs_settings INTERFACE)
target_include_directories(dibs_settings INTERFACE ${CMAKE_SOURCE_DIR}/src)

find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)
# toml++ and fmt are used by their headers alone: their own targets would add a shared library. What of fmt is compiled
# is compiled in src/base/fmt.cc.
# zlib as an archive: a shared library more is a tenth of a millisecond more for every command.
find_library(DIBS_ZLIB libz.a REQUIRED)
target_link_libraries(dibs_settings INTERFACE
  tl::expected nlohmann_json::nlohmann_json Threads::Threads ${DIBS_ZLIB})

if(DIBS_SANITIZE)
  # -w: the other presets compile the same lines with warnings on. -O0: optimising what sanitizers add took half of
  # the whole test run, and the unit tests take seconds either way.
  target_compile_options(dibs_settings INTERFACE
    -w -fno-omit-frame-pointer -fsanitize=${DIBS_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(dibs_settings INTERFACE -fsanitize=${DIBS_SANITIZE})
  if(DIBS_SANITIZE MATCHES "undefined")
    # Address sanitizing stops at a null pointer anyway; leaving these two out nearly halves the compile time.
    target_compile_options(dibs_settings INTERFACE -fno-sanitize=null,alignment)
  endif()
elseif(DIBS_COVERAGE)
  target_compile_options(dibs_settings INTERFACE -w -fprofile-instr-generate -fcoverage-mapping)
  target_link_options(dibs_settings INTERFACE -fprofile-instr-generate)
else()
  set(warnings -Werror -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
    -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wcast-qual -Wformat=2 -Wimplicit-fallthrough
    -Wnull-dereference -Wundef -Wextra-semi
    -Wno-missing-field-initializers)  # designated initialisers leave members at the defaults they are declared with
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND warnings -Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wsuggest-override
      -Wno-restrict)  # g++ 12 sees an overlap in every `"text" + std::string` (GCC bug 105329)
  endif()
  if(CMAKE_UNITY_BUILD)
    list(APPEND warnings -Wno-subobject-linkage)  # g++ takes the files that are compiled as one for headers
  endif()
  target_compile_options(dibs_settings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")
endif()

# Bounds checks in the standard library cost little beside one flush to disk.
target_compile_definitions(dibs_settings INTERFACE _GLIBCXX_ASSERTIONS)
# Without this, fmt asks std::locale for the separator that nobody prints, and that draws a quarter megabyte of
# streams and locales, with their start-up, into every process.
target_compile_definitions(dibs_settings INTERFACE "FMT_STATIC_THOUSANDS_SEPARATOR=','")

target_compile_options(dibs_settings INTERFACE -ffunction-sections -fdata-sections)
target_link_options(dibs_settings INTERFACE -Wl,--gc-sections -Wl,--as-needed)
if(DIBS_STATIC_RUNTIME)
  # One file to copy, and half the start-up time; glibc stays shared. libm: the standard library asks it for the rounding
  # mode when it reads a number, and mapping it for that would cost a tenth of a claim.
  target_link_options(dibs_settings INTERFACE
    -static-libstdc++ -static-libgcc -Wl,--push-state,-Bstatic,-lm,--pop-state)
  # At a fixed address (docs/adr/0007): 1,500 relocations fewer in a process that lives for a millisecond.
  target_compile_options(dibs_settings INTERFACE -fno-pie)
  target_link_options(dibs_settings INTERFACE -no-pie)
endif()

# The headers that most files include, read once for the code and once for the tests (DIBS_PRECOMPILE): a third less to
# compile. Headers that make templates of their own in every file, as nlohmann's do, cost more here than they save.
# Release is built without, so a file that forgets an include is found there.
# dibs_precompile(TARGET code|tests|optimised)
function(dibs_precompile target kind)
  if(NOT DIBS_PRECOMPILE)
    return()
  endif()
  set(once dibs_${kind}_headers)
  if(NOT TARGET ${once})
    file(CONFIGURE OUTPUT nothing.cc CONTENT "")
    add_library(${once} OBJECT ${CMAKE_BINARY_DIR}/nothing.cc)
    target_link_libraries(${once} PRIVATE dibs_settings)
    set(headers <algorithm> <array> <cstdint> <fmt/core.h> <functional> <map> <memory> <optional> <set> <span> <string>
      <string_view> <tl/expected.hpp> <utility> <vector>)
    if(kind STREQUAL "tests")
      target_link_libraries(${once} PRIVATE GTest::gtest_main rapidcheck_gtest)
      list(APPEND headers <gtest/gtest.h>)
    endif()
    if(kind STREQUAL "optimised")
      target_compile_options(${once} PRIVATE -O2 -U_FORTIFY_SOURCE)
    endif()
    target_precompile_headers(${once} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${once})
  target_compile_options(${target} PRIVATE -fpch-preprocess)  # ccache needs it
endfunction()

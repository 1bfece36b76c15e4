# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)

option(STICTION_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(STICTION_SANITIZE "Address and undefined-behaviour sanitizers" OFF)
option(STICTION_FUZZ "Fuzz targets; needs clang" OFF)
option(STICTION_WERROR "Warnings are errors" ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
stn_optional_file(program STN_CCACHE ccache)
if(STN_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER "${STN_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${STN_CCACHE}")
endif()

set(CMAKE_EXPORT_COMPILE_COMMANDS ON) # for clang-tidy and editors
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_EXTENSIONS ON) # POSIX names
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
# Results must not change with the optimiser's taste for fused operations; no errno from sqrt. The prefix map keeps
# paths of the build machine out of messages.
add_compile_options(-ffp-contract=off -fno-math-errno "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
# Of library and plugins: gcc copies and clears records of some hundred bytes by rep movsq and rep stosq, whose start costs more
# than the call does (7 % of a step of a pile).
include(CheckCCompilerFlag)
set(STN_COPY_OPTIONS -mmemcpy-strategy=unrolled_loop:64:noalign,libcall:-1:noalign
                     -mmemset-strategy=unrolled_loop:64:noalign,libcall:-1:noalign)
check_c_compiler_flag("-Werror;${STN_COPY_OPTIONS}" STN_HAS_COPY_OPTIONS)
if(NOT STN_HAS_COPY_OPTIONS)
  set(STN_COPY_OPTIONS "")
endif()
if(STICTION_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=address,undefined -Wl,-z,nodelete)
  if(CMAKE_C_COMPILER_ID MATCHES "Clang") # its vptr check wants a C++ runtime in every C program that loads a plugin with C++ in it
    add_compile_options(-fno-sanitize=vptr)
  endif()
endif()
if(STICTION_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

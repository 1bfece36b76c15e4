# SPDX-License-Identifier: Apache-2.0
# What the build uses where it is installed and does without otherwise is found by these only, so that STICTION_OPTIONAL=OFF
# hides all of it, as on a bare machine; a test (house/optional) reads the CMake files. Each sets what CMake's own command sets.
option(STICTION_OPTIONAL "Use optional packages that are installed; OFF: build as if there were none" ON)

# stn_optional_package(NAME [arguments of find_package])
macro(stn_optional_package name)
  if(STICTION_OPTIONAL)
    find_package(${name} QUIET ${ARGN})
  else()
    set(${name}_FOUND FALSE)
  endif()
endmacro()

# stn_optional_pkgconfig(PREFIX module): target PkgConfig::PREFIX
macro(stn_optional_pkgconfig prefix module)
  if(STICTION_OPTIONAL)
    find_package(PkgConfig REQUIRED) # core needs it anyway; here for its scope
    pkg_check_modules(${prefix} QUIET IMPORTED_TARGET ${module})
  else()
    set(${prefix}_FOUND FALSE)
  endif()
endmacro()

# stn_optional_file(program | library | path VARIABLE [arguments of find_program, find_library, find_path])
macro(stn_optional_file kind variable)
  if(NOT STICTION_OPTIONAL)
    set(${variable} "${variable}-NOTFOUND") # hides what an earlier run kept in the cache
  elseif("${kind}" STREQUAL "program")
    find_program(${variable} ${ARGN})
  elseif("${kind}" STREQUAL "library")
    find_library(${variable} ${ARGN})
  else()
    find_path(${variable} ${ARGN})
  endif()
endmacro()

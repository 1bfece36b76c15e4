# SPDX-License-Identifier: Apache-2.0
# cmake -DVIEWER=... -DWORK=... -DHEAD=... [-DBRING=OFF] [-DWAIT=seconds] -P viewer.cmake
# Makes HEAD, what a recording begins with: the viewer of the folder VIEWER, bundled in WORK with the packages that npm brings. Where npm
# is missing or reaches no registry, HEAD is the page VIEWER/without.html, WORK/missing.txt says in one line why, and nothing fails.
# The line is printed when that file is new, unless the environment variable STN_VIEWER_SILENT is set: then the caller prints it.
cmake_minimum_required(VERSION 3.25)
set(missing "${WORK}/missing.txt")
set(stamp "${WORK}/packages.stamp")

function(leave_out reason)
  configure_file("${VIEWER}/without.html" "${HEAD}" COPYONLY)
  file(TOUCH "${HEAD}")
  set(line "recordings will lack their viewer: ${reason}")
  if(NOT EXISTS "${missing}" AND NOT DEFINED ENV{STN_VIEWER_SILENT})
    message(NOTICE "stiction: ${line}; the build goes on without")
  endif()
  file(WRITE "${missing}" "${line}\n")
endfunction()

file(MAKE_DIRECTORY "${WORK}")
if(DEFINED BRING AND NOT BRING)
  leave_out("STN_VIEWER or STICTION_OPTIONAL is off")
  return()
endif()
# Looked for now, not when the build was configured: npm may be installed later.
find_program(npm npm PATHS ENV PATH NO_DEFAULT_PATH)
find_program(node NAMES node nodejs PATHS ENV PATH NO_DEFAULT_PATH)

set(lists package.json package-lock.json .npmrc)
set(wanted "")
foreach(list ${lists})
  file(SHA256 "${VIEWER}/${list}" hash)
  string(APPEND wanted "${hash}\n")
endforeach()
set(present "")
if(EXISTS "${stamp}")
  file(READ "${stamp}" present)
endif()
if(NOT present STREQUAL wanted)
  if(NOT npm OR NOT node)
    leave_out("npm is not installed")
    return()
  endif()
  if(NOT DEFINED WAIT)
    set(WAIT 300) # for a slow line; a registry that does not answer is given up after some 20 s
  endif()
  file(REMOVE "${stamp}")
  foreach(list ${lists})
    configure_file("${VIEWER}/${list}" "${WORK}/${list}" COPYONLY)
  endforeach()
  execute_process(
    COMMAND "${npm}" ci --ignore-scripts --no-audit --no-fund --loglevel=error
            --fetch-timeout=10000 --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=1000
    WORKING_DIRECTORY "${WORK}" TIMEOUT ${WAIT} RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE said)
  if(NOT result STREQUAL "0")
    string(REGEX MATCH "npm[ a-zA-Z!.]* code ([A-Z0-9_]+)" code "${said}")
    if(code)
      leave_out("npm ci failed (${CMAKE_MATCH_1}; is its registry within reach?)")
    else()
      leave_out("npm ci failed (${result}; is its registry within reach?)")
    endif()
    return()
  endif()
  file(WRITE "${stamp}" "${wanted}")
endif()

file(REMOVE_RECURSE "${WORK}/src")
file(COPY "${VIEWER}/src" "${VIEWER}/build.mjs" "${VIEWER}/page.html" DESTINATION "${WORK}")
execute_process(COMMAND "${node}" build.mjs "${HEAD}" WORKING_DIRECTORY "${WORK}" RESULT_VARIABLE result)
if(NOT result STREQUAL "0")
  file(REMOVE "${HEAD}")
  message(FATAL_ERROR "the viewer of recordings cannot be bundled (node build.mjs: ${result}); -DSTN_VIEWER=OFF builds without it")
endif()
file(REMOVE "${missing}")

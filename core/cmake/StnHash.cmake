# SPDX-License-Identifier: Apache-2.0
# stn_hash_sources(target name file...): gives the target a `const char name[33]`, a text that changes with every one of the files.
function(stn_hash_sources target name)
  set(script "${PROJECT_SOURCE_DIR}/core/cmake/hash_files.cmake")
  set(made "${CMAKE_CURRENT_BINARY_DIR}/${name}.c")
  add_custom_command(OUTPUT "${made}"
    COMMAND "${CMAKE_COMMAND}" "-DFILES=${ARGN}" "-DNAME=${name}" "-DOUT=${made}" -P "${script}"
    DEPENDS ${ARGN} "${script}" VERBATIM)
  add_custom_target(${target}_${name} DEPENDS "${made}")
  add_dependencies(${target} ${target}_${name})
  target_sources(${target} PRIVATE "${made}")
endfunction()

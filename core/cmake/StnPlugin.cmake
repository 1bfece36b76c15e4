# SPDX-License-Identifier: Apache-2.0
# stn_add_plugin(kind id SOURCES a.c [b.c] [LIBRARIES lib...]): one shared object <kind>_<id>.so that exports one symbol.
# Works in the project and, through find_package(Stiction), outside of it.
function(stn_add_plugin kind id)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  set(target "plugin_${kind}_${id}")
  add_library(${target} MODULE ${ARG_SOURCES})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME "${kind}_${id}"
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH "$ORIGIN/../..")
  target_link_libraries(${target} PRIVATE Stiction::stiction m ${ARG_LIBRARIES})
  set(map "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin.map")
  target_link_options(${target} PRIVATE "-Wl,--version-script=${map}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${map}")
  if(NOT STICTION_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  if(COMMAND stn_warnings)
    set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib/stiction/plugins")
    stn_warnings(${target})
    target_compile_options(${target} PRIVATE ${STN_COPY_OPTIONS})
    install(TARGETS ${target} DESTINATION "${CMAKE_INSTALL_LIBDIR}/stiction/plugins")
  endif()
endfunction()

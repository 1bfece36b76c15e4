# SPDX-License-Identifier: Apache-2.0
# cmake --install: library, command, plugins (StnPlugin.cmake), headers, CMake package, pkg-config file. The tree may be moved:
# nothing in it knows where it lies.
include(CMakePackageConfigHelpers)

install(TARGETS stiction stiction_worker stiction_soft EXPORT StictionTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS stiction_command RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY core/include/stiction DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
# Where world:load and require look when nothing nearer is found.
install(DIRECTORY models scripts DESTINATION "${CMAKE_INSTALL_DATADIR}/stiction")
install(FILES LICENSE README.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/stiction")
# The pages, and those of the plugins where their links look for them.
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/stiction")
file(GLOB pages RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS plugins/*/*/README.md)
foreach(page ${pages})
  get_filename_component(folder "${page}" DIRECTORY)
  install(FILES "${page}" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/stiction/${folder}")
endforeach()

# Links of pages to models, scripts and headers, and of models to pages, as they stand in the source: by relative symbolic links.
set(share "/${CMAKE_INSTALL_DATADIR}")
foreach(pair
    "${share}/doc/stiction/models:${share}/stiction/models" "${share}/doc/stiction/scripts:${share}/stiction/scripts"
    "${share}/doc/stiction/core/include/stiction:/${CMAKE_INSTALL_INCLUDEDIR}/stiction"
    "${share}/stiction/docs:${share}/doc/stiction/docs" "${share}/stiction/plugins:${share}/doc/stiction/plugins")
  string(REPLACE ":" ";" pair "${pair}")
  list(GET pair 0 link)
  list(GET pair 1 target)
  get_filename_component(folder "${link}" DIRECTORY)
  file(RELATIVE_PATH target "${folder}" "${target}")
  install(CODE "file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}${folder}\")
    file(CREATE_LINK \"${target}\" \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}${link}\" SYMBOLIC)
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${CMAKE_INSTALL_PREFIX}${link}\")")
endforeach()

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/Stiction")
configure_package_config_file(core/cmake/StictionConfig.cmake.in "${CMAKE_BINARY_DIR}/package/StictionConfig.cmake"
  INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/package/StictionConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(EXPORT StictionTargets NAMESPACE Stiction:: DESTINATION "${package}")
install(FILES "${CMAKE_BINARY_DIR}/package/StictionConfig.cmake"
  "${CMAKE_BINARY_DIR}/package/StictionConfigVersion.cmake" core/cmake/StnPlugin.cmake core/cmake/plugin.map DESTINATION "${package}")

# The pkg-config file finds the prefix from its own place; the way up depends on how deep the library folder lies.
file(RELATIVE_PATH STN_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" STN_PC_TO_PREFIX "${STN_PC_TO_PREFIX}")
configure_file(core/cmake/stiction.pc.in "${CMAKE_BINARY_DIR}/package/stiction.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/package/stiction.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

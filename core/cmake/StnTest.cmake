# SPDX-License-Identifier: Apache-2.0
# stn_add_test(name SOURCES test_x.c [LIBRARIES lib...] [LABELS slow]): one cmocka program, run by ctest. The tests see the
# private headers of core (for rooms that test more than the public face) and tests/support.
if(STICTION_TESTS)
  find_package(cmocka CONFIG REQUIRED)
endif()
function(stn_add_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  string(REPLACE "/" "_" target "test_${name}")
  add_executable(${target} ${ARG_SOURCES})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests/support")
  target_link_libraries(${target} PRIVATE Stiction::stiction ${CMOCKA_LIBRARIES} m ${ARG_LIBRARIES})
  target_compile_definitions(${target} PRIVATE
    STN_SOURCE_DIR="${PROJECT_SOURCE_DIR}" STN_SHARED_DIR="${PROJECT_SOURCE_DIR}/../shared"
    STN_BINARY_DIR="${CMAKE_BINARY_DIR}")
  target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O1>) # compiled in a third of the time of -O3
  stn_warnings(${target})
  add_dependencies(${target} stiction_formats) # whoever loads a robot or a problem needs them
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND ${target})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 300
    ENVIRONMENT "OPENBLAS_CORETYPE=Haswell;OMP_THREAD_LIMIT=1;STICTION_CACHE=off")
endfunction()

# stn_skip_test(name reason): in place of a test of what is not built; ctest and ./dev count it as skipped.
function(stn_skip_test name reason)
  add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" -E echo "skipped: ${reason}")
  set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
endfunction()

# stn_add_bench(name SOURCES bench_x.c [LIBRARIES lib...]): a program that measures; built with the tests, run by ./dev bench.
function(stn_add_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(bench_${name} ${ARG_SOURCES})
  target_link_libraries(bench_${name} PRIVATE Stiction::stiction m ${ARG_LIBRARIES})
  target_compile_definitions(bench_${name} PRIVATE STN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  stn_warnings(bench_${name})
  add_dependencies(bench_${name} stiction_formats)
  set_target_properties(bench_${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
endfunction()

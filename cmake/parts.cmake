# headrace_part(NAME SOURCES ... [DEPENDS other parts...] [LIBRARIES targets...] [PRIVATE_LIBRARIES ...]):
# one folder of core as a static library headrace_core_NAME. DEPENDS draws the arrows between the folders; CMake
# refuses a circle of includes at link time, and a test checks the includes themselves.
function(headrace_part name)
  cmake_parse_arguments(PART "" "" "SOURCES;DEPENDS;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  set(target headrace_core_${name})
  add_library(${target} STATIC ${PART_SOURCES})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PRIVATE headrace_warnings)
  foreach(part IN LISTS PART_DEPENDS)
    target_link_libraries(${target} PUBLIC headrace_core_${part})
  endforeach()
  target_link_libraries(${target} PUBLIC ${PART_LIBRARIES} PRIVATE ${PART_PRIVATE_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY HEADRACE_CORE_PARTS ${target})
endfunction()

# headrace_test(NAME [LABELS ...] SOURCES ... LIBRARIES ...): one Catch2 program; each file is noted as registered.
function(headrace_test name)
  cmake_parse_arguments(TEST "" "TIMEOUT" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(test_${name} ${TEST_SOURCES})
  target_link_libraries(test_${name} PRIVATE headrace_test_main headrace_warnings ${TEST_LIBRARIES})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300)
  endif()
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS "${TEST_LABELS}")
  if(HEADRACE_SANITIZE)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT
      "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp;UBSAN_OPTIONS=print_stacktrace=1")
  endif()
  foreach(source IN LISTS TEST_SOURCES)
    set_property(GLOBAL APPEND PROPERTY HEADRACE_TEST_FILES ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  endforeach()
endfunction()

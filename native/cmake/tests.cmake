# SPDX-License-Identifier: Apache-2.0
# One executable for each test/NAME_test.cpp. They link the library's objects, so that a sanitizer sees both sides and
# a test may call what the library doesn't export.

enable_testing()
add_library(gpuverbs_objects OBJECT ${GV_SOURCES})
target_include_directories(gpuverbs_objects PUBLIC include src)
target_link_libraries(gpuverbs_objects PUBLIC Threads::Threads ${CMAKE_DL_LIBS})

file(GLOB tests CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/test/*_test.cpp")
foreach(test ${tests})
  get_filename_component(name "${test}" NAME_WE)
  if(name MATCHES "^(invariants|device)_test$")
    # Their library has a hook in front of every ordering step, and the defects that they turn on.
    add_executable(${name} "${test}" ${GV_SOURCES})
    target_include_directories(${name} PRIVATE include src)
    target_compile_definitions(${name} PRIVATE GV_STEP_HOOKS)
    if(name STREQUAL "device_test")
      target_compile_definitions(${name} PRIVATE GV_WARP_TWIN GPUVERBS_CHECK)
    endif()
    target_link_libraries(${name} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  else()
    add_executable(${name} "${test}")
    target_link_libraries(${name} PRIVATE gpuverbs_objects)
  endif()
  target_compile_definitions(${name} PRIVATE
                             GV_GOLDEN_FILE="${CMAKE_CURRENT_SOURCE_DIR}/test/golden/golden.txt")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endforeach()

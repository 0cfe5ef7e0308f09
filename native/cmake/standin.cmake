# SPDX-License-Identifier: Apache-2.0
# Libraries that stand in for those of hardware, for Java tests: LD_LIBRARY_PATH=BUILD/mlx5:BUILD/fake. Not in the jar.

# A driver without a GPU.
add_library(fake_cuda MODULE test/fake_cuda.cpp)
target_include_directories(fake_cuda PRIVATE include src)
set_target_properties(fake_cuda PROPERTIES OUTPUT_NAME cuda SUFFIX .so.1 LIBRARY_OUTPUT_DIRECTORY
                                           "${CMAKE_CURRENT_BINARY_DIR}/fake")

# libibverbs and libmlx5, with a ConnectX that executes DEVX commands.

set(standin "${CMAKE_CURRENT_SOURCE_DIR}/test/mlx5")
set(standin_fields "${CMAKE_CURRENT_BINARY_DIR}/generated/mlx5/fields.inc")
add_custom_command(
  OUTPUT "${standin_fields}"
  COMMAND ${CMAKE_COMMAND} "-DOUT=${standin_fields}" "-DTABLES=${standin}/fields.tsv;${standin}/umem.tsv" -P
          "${standin}/fields.cmake"
  DEPENDS "${standin}/fields.tsv" "${standin}/umem.tsv" "${standin}/fields.cmake"
  VERBATIM)

function(standin_library target output)
  add_library(${target} SHARED ${ARGN})
  target_include_directories(${target} PRIVATE "${standin}" "${CMAKE_CURRENT_BINARY_DIR}/generated/mlx5")
  set_target_properties(
    ${target}
    PROPERTIES OUTPUT_NAME ${output} SUFFIX .so.1 NO_SONAME OFF CXX_VISIBILITY_PRESET default
               LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/mlx5" BUILD_RPATH "$ORIGIN")
  target_link_options(${target} PRIVATE "-Wl,-soname,lib${output}.so.1")
  target_link_libraries(${target} PRIVATE Threads::Threads)
endfunction()

standin_library(
  standin_ibverbs
  ibverbs
  "${standin_fields}"
  "${standin}/command.cpp"
  "${standin}/control.cpp"
  "${standin}/cq.cpp"
  "${standin}/device.cpp"
  "${standin}/events.cpp"
  "${standin}/fields.cpp"
  "${standin}/machine.cpp"
  "${standin}/memory.cpp"
  "${standin}/qp.cpp"
  "${standin}/transitions.cpp"
  "${standin}/verbs_queues.cpp")
standin_library(standin_mlx5 mlx5 "${standin}/channels.cpp" "${standin}/mlx5dv.cpp")
target_link_libraries(standin_mlx5 PRIVATE standin_ibverbs)

if(GV_TESTS)
  # Mailboxes come from DEVX_SET on the kernel's header where both headers are installed, else from the table.
  file(GLOB standin_headers /usr/src/linux-headers-6.1.*-common/include/linux/mlx5/mlx5_ifc.h)
  find_file(mlx5dv_header infiniband/mlx5dv.h)
  set(mailboxes "${standin}/mailboxes_table.cpp")
  if(standin_headers AND mlx5dv_header)
    list(GET standin_headers 0 header)
    get_filename_component(header_folder "${header}" DIRECTORY)
    enable_language(C)
    set(mailboxes "${standin}/mailboxes.c")
    set_source_files_properties("${mailboxes}" PROPERTIES INCLUDE_DIRECTORIES "${header_folder}" COMPILE_OPTIONS
                                                          "-std=gnu11;-Wno-error;-w")
    message(STATUS "mlx5 stand-in: mailboxes by ${header}")
  else()
    message(STATUS "mlx5 stand-in: mailboxes by fields.tsv; no mlx5dv.h or no mlx5_ifc.h")
  endif()
  add_executable(standin_test "${standin}/standin_test.cpp" "${standin}/refusals_test.cpp" "${mailboxes}")
  target_include_directories(standin_test PRIVATE "${standin}" "${CMAKE_CURRENT_SOURCE_DIR}/test")
  target_link_libraries(standin_test PRIVATE standin_mlx5 standin_ibverbs Threads::Threads)
  add_test(NAME standin_test COMMAND standin_test)
  add_test(NAME standin_fields COMMAND sh "${standin}/fields-check.sh")
  set_tests_properties(standin_test standin_fields PROPERTIES TIMEOUT 120)
  set_tests_properties(standin_fields PROPERTIES SKIP_RETURN_CODE 77)

  if(TARGET direct_test)
    set_tests_properties(
      direct_test PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT
                             "LD_LIBRARY_PATH=${CMAKE_CURRENT_BINARY_DIR}/mlx5:${CMAKE_CURRENT_BINARY_DIR}/fake")
  endif()

  # Path DIRECT finds the stand-ins under the real libraries' names.
  foreach(name defects_test sweep_test)
    add_executable(${name} "${standin}/${name}.cpp")
    target_include_directories(${name} PRIVATE "${standin}" "${CMAKE_CURRENT_SOURCE_DIR}/test")
    target_link_libraries(${name} PRIVATE gpuverbs_objects standin_mlx5 standin_ibverbs)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT 300 ENVIRONMENT "LD_LIBRARY_PATH=${CMAKE_CURRENT_BINARY_DIR}/fake")
  endforeach()
endif()

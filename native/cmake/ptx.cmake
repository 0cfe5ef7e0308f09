# SPDX-License-Identifier: Apache-2.0
# Compiles device/*.cu to PTX where nvcc or a clang with the NVPTX target is present, so that code which no longer
# compiles for a GPU fails the build on a machine without one.

set(GV_PTX_ARCHITECTURES sm_80 sm_90)
set(GV_CUBIN_ARCHITECTURES sm_80 sm_90 sm_100)
set(GV_NVCC_FLAGS -std=c++17 -O3 --ptx)
# No CUDA file is needed: the device headers include none.
set(GV_CLANG_FLAGS -std=c++17 -O3 -x cuda --cuda-device-only -nocudainc -nocudalib -S -Wno-unknown-cuda-version)

# Sets `result` to the first of the commands that compiles a kernel for every architecture, or to "".
function(gv_find_ptx_compiler result flags arch_flag)
  set(probe "${CMAKE_CURRENT_BINARY_DIR}/ptx_probe.cu")
  file(WRITE "${probe}" "extern \"C\" __attribute__((global)) void probe(int* p) { *p = 1; }\n")
  set(${result} "" PARENT_SCOPE)
  foreach(command ${ARGN})
    set(works TRUE)
    foreach(arch ${GV_PTX_ARCHITECTURES})
      execute_process(
        COMMAND ${command} ${flags} ${arch_flag}${arch} -o "${CMAKE_CURRENT_BINARY_DIR}/ptx_probe.ptx" "${probe}"
        RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
      if(NOT status EQUAL 0)
        set(works FALSE)
      endif()
    endforeach()
    if(works)
      set(${result} ${command} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

set(GV_PTX_COMPILER "")
if(GV_PTX STREQUAL "auto" OR GV_PTX STREQUAL "nvcc")
  file(GLOB nvccs LIST_DIRECTORIES false /usr/local/cuda*/bin/nvcc)
  gv_find_ptx_compiler(GV_PTX_COMPILER "${GV_NVCC_FLAGS}" -arch= nvcc ${nvccs})
  set(GV_PTX_FLAGS ${GV_NVCC_FLAGS})
  set(GV_PTX_ARCH_FLAG -arch=)
endif()
if(NOT GV_PTX_COMPILER AND (GV_PTX STREQUAL "auto" OR GV_PTX STREQUAL "clang"))
  file(GLOB clangs LIST_DIRECTORIES false /usr/bin/clang++-*)
  list(SORT clangs COMPARE NATURAL ORDER DESCENDING)
  gv_find_ptx_compiler(GV_PTX_COMPILER "${GV_CLANG_FLAGS}" --cuda-gpu-arch= ${clangs} clang++)
  set(GV_PTX_FLAGS ${GV_CLANG_FLAGS})
  set(GV_PTX_ARCH_FLAG --cuda-gpu-arch=)
endif()

file(GLOB GV_DEVICE_SOURCES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/device/*.cu")
# Compiled for the tests to read, never packaged.
set(GV_MODEL_SOURCES "${CMAKE_CURRENT_SOURCE_DIR}/model/ordering.cu")
if(GV_PTX STREQUAL "off")
  message(STATUS "PTX: skipped, GV_PTX=off")
elseif(NOT GV_PTX_COMPILER AND NOT GV_PTX STREQUAL "auto")
  message(FATAL_ERROR "GV_PTX=${GV_PTX}, but no such compiler makes PTX for ${GV_PTX_ARCHITECTURES} here")
elseif(NOT GV_PTX_COMPILER)
  message(STATUS "PTX: skipped, no nvcc or clang with NVPTX")
elseif(NOT GV_DEVICE_SOURCES)
  message(STATUS "PTX: skipped, no device sources")
else()
  execute_process(COMMAND ${GV_PTX_COMPILER} --version OUTPUT_VARIABLE version ERROR_QUIET)
  string(REGEX MATCH "release [0-9.]+|clang version [0-9.]+" version "${version}")
  message(STATUS "PTX: compiled by ${GV_PTX_COMPILER} (${version})")
  set(outputs)
  file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/ptx" "${CMAKE_CURRENT_BINARY_DIR}/model")
  foreach(source ${GV_DEVICE_SOURCES} ${GV_MODEL_SOURCES})
    get_filename_component(name "${source}" NAME_WE)
    set(directory ptx)
    if(source IN_LIST GV_MODEL_SOURCES)
      set(directory model)
    endif()
    foreach(arch ${GV_PTX_ARCHITECTURES})
      set(output "${CMAKE_CURRENT_BINARY_DIR}/${directory}/${name}.${arch}.ptx")
      add_custom_command(
        OUTPUT "${output}"
        COMMAND ${GV_PTX_COMPILER} ${GV_PTX_FLAGS} ${GV_PTX_ARCH_FLAG}${arch} "-I${CMAKE_CURRENT_SOURCE_DIR}/include"
                -MD -MF "${output}.d" -o "${output}" "${source}"
        DEPENDS "${source}"
        DEPFILE "${output}.d"
        COMMENT "PTX ${name} ${arch}"
        VERBATIM)
      list(APPEND outputs "${output}")
    endforeach()
    # nvcc also makes machine code, which needs no compilation by the driver.
    if(GV_PTX_ARCH_FLAG STREQUAL "-arch=" AND directory STREQUAL "ptx")
      foreach(arch ${GV_CUBIN_ARCHITECTURES})
        set(output "${CMAKE_CURRENT_BINARY_DIR}/ptx/${name}.${arch}.cubin")
        add_custom_command(
          OUTPUT "${output}"
          COMMAND ${GV_PTX_COMPILER} -std=c++17 -O3 --cubin -arch=${arch} "-I${CMAKE_CURRENT_SOURCE_DIR}/include"
                  -MD -MF "${output}.d" -o "${output}" "${source}"
          DEPENDS "${source}"
          DEPFILE "${output}.d"
          COMMENT "cubin ${name} ${arch}"
          VERBATIM)
        list(APPEND outputs "${output}")
      endforeach()
    endif()
  endforeach()
  # The device API has no kernel of its own: a translation unit that calls all of it stands for its users, of the checked build too.
  foreach(build device_api device_api_checked)
    set(output "${CMAKE_CURRENT_BINARY_DIR}/${build}.ptx")
    set(definitions)
    if(build STREQUAL "device_api_checked")
      set(definitions -DGPUVERBS_CHECK)
    endif()
    add_custom_command(
      OUTPUT "${output}"
      COMMAND ${GV_PTX_COMPILER} ${GV_PTX_FLAGS} ${GV_PTX_ARCH_FLAG}sm_90 ${definitions}
              "-I${CMAKE_CURRENT_SOURCE_DIR}/include" -MD -MF "${output}.d" -o "${output}"
              "${CMAKE_CURRENT_SOURCE_DIR}/test/device_api.cu"
      DEPENDS test/device_api.cu
      DEPFILE "${output}.d"
      COMMENT "PTX ${build} sm_90"
      VERBATIM)
    list(APPEND outputs "${output}")
  endforeach()
  add_custom_target(ptx ALL DEPENDS ${outputs})
endif()

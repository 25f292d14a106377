# Compiles an operator's kernel file once per dtype, architecture and SIMD level, as the device build compiles it once per
# dtype and architecture.
#
#   ascendc_kernel(<target> <op> SOURCE <file.cpp> ARCHS <2201|3510> ... DTYPES <name>=<definitions> ... [SAME_CODE])
#
# SAME_CODE: the file does not look at __NPU_ARCH__ (vector kernels), so what the first architecture gets serves all.
#
# adds to <target> the symbols <op>__<name>__<arch>__<level> and rows of the table that ascendc::FindKernel reads.
# The kernel file is not changed: a generated file includes it inside a namespace of its own, with its entry renamed, so that
# no two variants share an inline function.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(_simd_levels baseline x86_64_v3)
else()
  set(_simd_levels baseline)
endif()
if(ACLNN_PY_SIMD)
  set(_simd_levels ${ACLNN_PY_SIMD})
endif()
set(ASCENDC_SIMD_LEVELS ${_simd_levels} CACHE INTERNAL "")
set(ASCENDC_KERNEL_TEMPLATES ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "")

function(ascendc_kernel target op)
  cmake_parse_arguments(ARG "SAME_CODE" "SOURCE" "ARCHS;DTYPES" ${ARGN})
  get_filename_component(KERNEL_SOURCE ${ARG_SOURCE} ABSOLUTE)
  set(KERNEL_OP ${op})
  set(KERNEL_DECLARATIONS "")
  set(KERNEL_ROWS "")
  foreach(dtype_spec IN LISTS ARG_DTYPES)
    string(REGEX MATCH "^([^=]+)=(.*)$" _ "${dtype_spec}")
    set(dtype ${CMAKE_MATCH_1})
    string(REPLACE "," ";" definitions "${CMAKE_MATCH_2}")
    list(GET ARG_ARCHS 0 first_arch)
    foreach(arch IN LISTS ARG_ARCHS)
      foreach(level IN LISTS ASCENDC_SIMD_LEVELS)
        if(ARG_SAME_CODE AND NOT arch STREQUAL first_arch)
          set(KERNEL_SYMBOL ${op}__${dtype}__${first_arch}__${level})
          string(APPEND KERNEL_ROWS "    {\"${op}\", \"${dtype}\", ${arch}, \"${level}\", ${KERNEL_SYMBOL}},\n")
          continue()
        endif()
        set(KERNEL_VARIANT ${dtype}__${arch}__${level})
        set(KERNEL_SYMBOL ${op}__${KERNEL_VARIANT})
        set(variant_file ${CMAKE_CURRENT_BINARY_DIR}/${KERNEL_SYMBOL}.cpp)
        configure_file(${ASCENDC_KERNEL_TEMPLATES}/kernel_variant.cpp.in ${variant_file} @ONLY)
        set(flags -O3 -Wno-unused-parameter) # every entry takes workspace, used or not
        if(ACLNN_PY_KERNEL_OPTIMIZATION)
          list(APPEND flags ${ACLNN_PY_KERNEL_OPTIMIZATION})
        elseif(ACLNN_PY_SANITIZE)
          list(APPEND flags -O1) # several times faster to compile
        elseif(level STREQUAL "baseline" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT ACLNN_PY_SIMD)
          list(APPEND flags -O1) # for processors of before 2013 only: half the build time counts for more
        endif()
        if(level STREQUAL "x86_64_v3")
          list(APPEND flags -march=x86-64-v3)
        elseif(level STREQUAL "x86_64_v4")
          list(APPEND flags -march=x86-64-v4 -mprefer-vector-width=512)
        endif()
        set_source_files_properties(${variant_file} TARGET_DIRECTORY ${target} PROPERTIES
          COMPILE_OPTIONS "${flags}" COMPILE_DEFINITIONS "__NPU_ARCH__=${arch};${definitions}"
          OBJECT_DEPENDS ${KERNEL_SOURCE})
        target_sources(${target} PRIVATE ${variant_file})
        string(APPEND KERNEL_DECLARATIONS "extern \"C\" void ${KERNEL_SYMBOL}();\n")
        string(APPEND KERNEL_ROWS "    {\"${op}\", \"${dtype}\", ${arch}, \"${level}\", ${KERNEL_SYMBOL}},\n")
      endforeach()
    endforeach()
  endforeach()
  set_property(GLOBAL APPEND_STRING PROPERTY ASCENDC_${target}_DECLARATIONS "${KERNEL_DECLARATIONS}")
  set_property(GLOBAL APPEND_STRING PROPERTY ASCENDC_${target}_ROWS "${KERNEL_ROWS}")
endfunction()

# Writes the table of all kernels of <target>; call once, after the last ascendc_kernel.
function(ascendc_kernel_table target)
  get_property(KERNEL_DECLARATIONS GLOBAL PROPERTY ASCENDC_${target}_DECLARATIONS)
  get_property(KERNEL_ROWS GLOBAL PROPERTY ASCENDC_${target}_ROWS)
  set(table ${CMAKE_CURRENT_BINARY_DIR}/${target}_kernels.cpp)
  configure_file(${ASCENDC_KERNEL_TEMPLATES}/kernel_table.cpp.in ${table} @ONLY)
  target_sources(${target} PRIVATE ${table})
endfunction()

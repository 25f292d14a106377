# A second file name for a library, for the link lines and dlopen calls that use it: emulator_alias(acl_rt ascendcl).
# It exports the same symbols and holds nothing: as a filter (DT_FILTER) the dynamic linker answers every one of them from
# the library itself, so there is still one copy of its code and state. A symbolic link would do the same, but a wheel would
# turn it into a second copy.
set(ALIAS_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/write_alias.cmake)

function(emulator_alias alias target)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/alias_${alias}.cpp)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DLIBRARY=$<TARGET_FILE:${target}> -DOUTPUT=${source} -P ${ALIAS_SCRIPT}
    DEPENDS ${target} ${ALIAS_SCRIPT}
    VERBATIM)
  emulator_library(${alias} SOURCES ${source} LINK ${target})
  target_link_options(${alias} PRIVATE -Wl,--filter=lib${target}.so)
endfunction()

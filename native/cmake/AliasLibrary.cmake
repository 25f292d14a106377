# A second file name for a library, for the link lines and dlopen calls that use it: emulator_alias(acl_rt ascendcl).
# It exports the same functions, each a jump to the one of the library beside it, so there is one copy of code and state.
# (A symbolic link would do, but a wheel turns it into a second copy; a DT_FILTER library would do, but glibc does not tell
# the unwinder of a library loaded that way.)
set(ALIAS_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/write_alias.cmake)

function(emulator_alias alias target)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/alias_${alias}.cpp)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DLIBRARY=$<TARGET_FILE:${target}> -DNAME=lib${target}.so -DOUTPUT=${source}
      -P ${ALIAS_SCRIPT}
    DEPENDS ${target} ${ALIAS_SCRIPT} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/alias.h
    VERBATIM)
  emulator_library(${alias} SOURCES ${source} LINK ${CMAKE_DL_LIBS})
endfunction()

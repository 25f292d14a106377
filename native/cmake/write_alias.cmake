# Writes OUTPUT: the list of functions LIBRARY exports, for cmake/alias.h to make jumps of.
execute_process(COMMAND ${NM} -D --defined-only --format=posix ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" lines "${symbols}")
set(names "")
set(jumps "")
set(index 0)
foreach(line IN LISTS lines)
  if(line MATCHES "^(acl[A-Za-z0-9_]+|Acl[A-Za-z0-9_]+) [TW] ")
    string(APPEND names "    \"${CMAKE_MATCH_1}\",\n")
    string(APPEND jumps "ALIAS_JUMP(${CMAKE_MATCH_1}, ${index})\n")
    math(EXPR index "${index} + 1")
  endif()
endforeach()
file(WRITE ${OUTPUT} "// Generated: another name for ${NAME}.
#define ALIAS_TARGET \"${NAME}\"
#define ALIAS_COUNT ${index}
static const char *const kNames[] = {
${names}};
#include \"cmake/alias.h\"
${jumps}")

# Writes OUTPUT, core/evaluation/program-id.h by the sources that LIST names (a file: one a line, by their paths below ROOT).
file(STRINGS ${LIST} names)
set(all "")
foreach(name IN LISTS names)
  file(SHA256 ${ROOT}/${name} digest)
  string(APPEND all "${digest} ${name}\n")
endforeach()
string(SHA256 digest "${all}")
string(SUBSTRING ${digest} 0 12 short)
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[#include "evaluation/program-id.h"

const char *
demur_program_id(void) {
  return DEMUR_VERSION " @short@";
}
]])

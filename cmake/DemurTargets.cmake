# demur_room(NAME room SOURCES dir LINKS ...): one static library a room, so that the arrows of
# docs/architecture.md are link dependencies. Sources are every .c (and, in dicom/, .cc) file of the
# room's folder: a new method is a new file, and no list has to be kept beside it.

add_library(demur-flags INTERFACE)
target_compile_definitions(demur-flags INTERFACE
  GLIB_VERSION_MIN_REQUIRED=GLIB_VERSION_2_74 GLIB_VERSION_MAX_ALLOWED=GLIB_VERSION_2_74
  G_LOG_DOMAIN="demur" DEMUR_VERSION="${PROJECT_VERSION}")
target_compile_options(demur-flags INTERFACE
  -ffp-contract=off -fno-fast-math -fstack-protector-strong
  -Wall -Wextra -Wconversion -Wshadow -Wvla -Wno-unused-parameter
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes -Werror=implicit-function-declaration>)
if(DEMUR_WERROR)
  target_compile_options(demur-flags INTERFACE -Werror)
endif()
if(DEMUR_SANITIZE)
  target_compile_options(demur-flags INTERFACE -fsanitize=${DEMUR_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(demur-flags INTERFACE -fsanitize=${DEMUR_SANITIZE})
else()
  target_compile_definitions(demur-flags INTERFACE $<$<CONFIG:Release,RelWithDebInfo>:_FORTIFY_SOURCE=2>)
endif()
target_link_options(demur-flags INTERFACE -Wl,-z,relro,-z,now)

function(demur_room name)
  cmake_parse_arguments(ROOM "" "FOLDER" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${ROOM_FOLDER}/*.c
       ${CMAKE_CURRENT_SOURCE_DIR}/${ROOM_FOLDER}/*.cc)
  if(NOT sources)
    add_library(demur-${name} INTERFACE)
    target_link_libraries(demur-${name} INTERFACE ${ROOM_LINKS})
    return()
  endif()
  add_library(demur-${name} STATIC ${sources})
  target_link_libraries(demur-${name} PUBLIC demur-flags ${ROOM_LINKS})
endfunction()

# demur_test(NAME file LABEL unit|golden|.. LINKS ...): a g_test program under ctest. tests/support/run-test.sh tells ctest
# when a part of it was skipped. DEMUR_SHARED is the caller's, else ../shared (tests/support/support.h): not set here.
function(demur_test name)
  cmake_parse_arguments(TEST "" "SOURCE;LABEL" "LINKS" ${ARGN})
  add_executable(${name} ${TEST_SOURCE})
  target_link_libraries(${name} PRIVATE demur-flags demur-test-support ${TEST_LINKS})
  add_test(NAME ${TEST_LABEL}/${name} COMMAND sh ${CMAKE_SOURCE_DIR}/tests/support/run-test.sh $<TARGET_FILE:${name}>)
  set_tests_properties(${TEST_LABEL}/${name} PROPERTIES LABELS ${TEST_LABEL} SKIP_RETURN_CODE 77
    ENVIRONMENT "G_TEST_SRCDIR=${CMAKE_SOURCE_DIR}")
endfunction()

# demur_late(PROGRAM NAME room OBJECTS object-files LINKS ... [INSTALL]): the program loads the room when it first calls into it
# (app/late/late.h). The room's module stands beside the program in the build folder, and in DEMUR_MODULE_DIR once installed.
# Both say of which object files they are made: a module of another build is refused. OBJECTS are what the module is made of; LINKS the libraries that only it needs. Not under sanitizers, which want all of
# a program at its start, nor for processors that have no trampolines: there the room is linked as any other.
set(DEMUR_MODULE_DIR ${CMAKE_INSTALL_LIBDIR}/demur)
set(DEMUR_LATE OFF)
if(NOT DEMUR_SANITIZE AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(DEMUR_LATE ON)
  enable_language(ASM)
endif()
file(RELATIVE_PATH from_bin_to_modules /${CMAKE_INSTALL_BINDIR} /${DEMUR_MODULE_DIR})

function(demur_late program)
  cmake_parse_arguments(LATE "INSTALL" "NAME" "OBJECTS;LINKS" ${ARGN})
  if(NOT DEMUR_LATE)
    return()
  endif()
  set(module demur-${LATE_NAME}-late)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/${program}-${LATE_NAME})
  add_custom_command(OUTPUT ${made}.S ${made}.given ${made}-build.S
    COMMAND sh ${CMAKE_SOURCE_DIR}/cmake/late.sh ${CMAKE_NM} ${LATE_NAME} ${module}.so ${made}.S ${made}.given ${made}-build.S ${LATE_OBJECTS}
    DEPENDS ${LATE_OBJECTS} ${CMAKE_SOURCE_DIR}/cmake/late.sh
    COMMAND_EXPAND_LISTS VERBATIM)
  add_library(${module} MODULE ${LATE_OBJECTS} ${made}-build.S)
  set_target_properties(${module} PROPERTIES PREFIX "" LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY $<TARGET_FILE_DIR:${program}>)
  target_link_libraries(${module} PRIVATE ${LATE_LINKS})
  target_link_options(${module} PRIVATE -Wl,-Bsymbolic-functions -Wl,-z,relro,-z,now -Wl,--as-needed)
  if(LATE_INSTALL)
    install(TARGETS ${module} LIBRARY DESTINATION ${DEMUR_MODULE_DIR})
  endif()

  set_source_files_properties(${made}.S PROPERTIES OBJECT_DEPENDS ${CMAKE_SOURCE_DIR}/app/late/x86-64.inc)
  target_sources(${program} PRIVATE ${made}.S ${CMAKE_SOURCE_DIR}/app/late/late.c)
  target_link_options(${program} PRIVATE -Wl,--as-needed @${made}.given)
  set_property(TARGET ${program} APPEND PROPERTY LINK_DEPENDS ${made}.given)
  set_target_properties(${program} PROPERTIES BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN/${from_bin_to_modules}")
  target_link_libraries(${program} PRIVATE ${CMAKE_DL_LIBS})
  add_dependencies(${program} ${module})
endfunction()

/* Rooms that a program loads when it first calls into them, not when it starts: the libraries they
 * stand on (DCMTK, curl, cairo, pango, qpdf, the BLAS) take four fifths of the start of a program of which most commands
 * need none of them.
 *
 * cmake/DemurLate.cmake makes of such a room a module (a shared object beside the program, or in its
 * own folder below the libraries) and, from its symbols, trampolines that are linked into the
 * program in place of its archive. A trampoline has the function's name; it jumps through a slot,
 * which at first leads to demur_late_enter. What the room itself calls of the rooms below it, the
 * program gives it. So no caller and no room knows of it, and each room is there once. */
#pragma once

#include <stddef.h>

/* What a module calls the text that says of which object files it is made. Program and module of one build agree on every
 * struct that passes between them; of two builds they need not, whatever their functions are called. */
#define DEMUR_LATE_BUILD "demur_late_build"

/* A room's trampolines, as cmake/late.sh writes them. */
typedef struct {
  const char *file;  /* of the module, without a folder */
  const char *build; /* SHA-256 of its object files, in hex; its DEMUR_LATE_BUILD is the same */
  const char *names; /* of its functions, each with its NUL */
  void **slots;      /* [n], on pages of their own */
  size_t n;
  size_t n_bytes; /* of these pages */
} DemurLateRoom;

/* Loads the room, fills its slots and makes their pages read-only; at once where that is done. Any thread. Where the
 * module can't be loaded, or is another build's (before any of it is called), the program says so on standard error and ends
 * with 1, since no caller of a function expects that: the installation is broken. Called by the trampolines and demur_late_load_all. */
void demur_late_enter(const DemurLateRoom *room);

/* Loads every room of the program now, and ends it likewise where one can't be loaded: for what runs for weeks, which must
 * tell at its start what is lacking, and beneath which another version may be installed before it first calls a room. Does
 * nothing in a program that has no such rooms. */
void demur_late_load_all(void);

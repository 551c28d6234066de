/* What each program of the house begins with, and what it ends with: a write that fails is an error
 * and never a signal, and standard output is a file like any other. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* First in main. From now on a limit on the size of files (RLIMIT_FSIZE) is an error of its write;
 * and where the process ends with standard output not taken whole, by whomever (the help of an
 * option parser ends it with 0), it says so after name ("demur", kept by the caller) and ends with
 * status 1. */
void demur_program_begin(const char *name);

/* FALSE, with that sentence on standard error, where standard output did not take all of it. Nothing
 * may be printed afterwards, and the end of the process says nothing more. */
gboolean demur_program_end_output(void);

G_END_DECLS

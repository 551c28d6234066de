/* A command line from its words to its exit status. Global options stand before or after the command;
 * 0 done, 1 failed, 2 wrong usage. */
#pragma once

#include "base/ranks.h"

G_BEGIN_DECLS

/* First in main. FALSE, with a word on standard error, where what the words ask of the process (that
 * it be started anew with the C library's plainest code) can't be had. */
gboolean demur_cli_begin(int argc, char **argv);

/* Where in argv the command's word stands, behind what global options stand before it; 0: nowhere. */
int demur_cli_find_command(int argc, char **argv);

/* The status of a command that failed because another rank did, which says why. */
#define DEMUR_CLI_PEER_FAILED 3

/* From now on what is refused is not kept in the workspace's log: another rank keeps it. */
void demur_cli_log_no_refusals(void);

/* Runs the command. Words that name a person are written over in argv. ranks: the processes that run
 * the same words with this one; NULL: none. May be called again. */
int demur_cli_run(int argc, char **argv, const DemurRanks *ranks);

G_END_DECLS

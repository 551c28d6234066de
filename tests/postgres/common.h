/* What the tests of a server share: a workspace there, a verdict and a comment in it, and the server's end. */
#pragma once

#include "store/workspace.h"

G_BEGIN_DECLS

/* Opened, made where it is absent; a failure ends the test. user: who is said to work. */
DemurWorkspace *server_open(const char *path, const char *user);

/* The address with something put behind it: "user=anna". */
char *server_with(const char *path, const char *option);

/* An assessment with one verdict, accepted. */
gboolean server_give_verdict(DemurWorkspace *workspace, const char *scan, GError **error);

/* A comment on a scan (verdict 0: on none of its verdicts), in the name of user. */
gboolean server_comment(DemurWorkspace *workspace, const char *scan, gint64 verdict,
                        const char *text, const char *user, GError **error);

/* Ends the server at once ("kill"), or starts it again ("start"). */
void server_control(const char *what);

G_END_DECLS

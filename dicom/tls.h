/* Encryption between DICOM peers: TLS 1.2 and later with the cipher suites of the BCP 195 profile
 * (PS3.15 B.9, non-downgrading). Who calls checks who answers: its certificate must be of a trusted
 * authority, in date, and made out to the host that was called. Who is called checks the caller's
 * certificate likewise, but for the name. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* PEM files, read anew for each connection, so that a renewed certificate needs no restart. */
typedef struct {
  const char *certificate, *key; /* our own; both NULL: none is shown (callers only) */
  const char *authorities;       /* that we trust */
  gboolean any_caller;           /* a server takes callers without a certificate too */
} DemurTls;

G_END_DECLS

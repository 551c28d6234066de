/* The transfer syntaxes of CT in practice (PS3.6 table A-1), and what is done with each. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DEMUR_CODING_NATIVE,
  DEMUR_CODING_DEFLATED,
  DEMUR_CODING_JPEG,      /* lossless: jpeg-lossless.c; baseline, extended: DCMTK's dcmjpeg */
  DEMUR_CODING_JPEG_LS,   /* DCMTK's dcmjpls */
  DEMUR_CODING_JPEG_2000, /* OpenJPEG */
  DEMUR_CODING_RLE,
  DEMUR_CODING_UNREADABLE, /* known, not read */
} DemurCoding;

typedef struct {
  const char *uid;
  const char *name;
  DemurCoding coding;
  gboolean lossy;
} DemurTransferSyntax;

/* The entry of uid; NULL where it is not known (private or newer). */
const DemurTransferSyntax *demur_transfer_syntax_find(const char *uid);

/* Name of a transfer syntax ("JPEG Lossless (1.2.840.10008.1.2.4.70)"); owned. */
char *demur_transfer_syntax_name(const char *uid);

G_END_DECLS

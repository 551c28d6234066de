/* The transfer syntaxes of CT in practice (PS3.6 table A-1), and what is done with each. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Those of data sets that are written or read without a meta header. */
#define DEMUR_IMPLICIT_LITTLE_ENDIAN "1.2.840.10008.1.2"
#define DEMUR_EXPLICIT_LITTLE_ENDIAN "1.2.840.10008.1.2.1"
#define DEMUR_EXPLICIT_BIG_ENDIAN "1.2.840.10008.1.2.2"

typedef enum {
  DEMUR_CODING_NATIVE,
  DEMUR_CODING_DEFLATED,
  DEMUR_CODING_JPEG,      /* lossless: jpeg-lossless.c; baseline, extended: DCMTK's dcmjpeg */
  DEMUR_CODING_JPEG_LS,   /* DCMTK's dcmjpls */
  DEMUR_CODING_JPEG_2000, /* OpenJPEG */
  DEMUR_CODING_RLE,
  DEMUR_CODING_UNREADABLE, /* known, not read */
} DemurCoding;

typedef enum {
  DEMUR_EXCHANGE_PLAIN, /* what every peer must take (PS3.5 section 10.1) */
  DEMUR_EXCHANGE_AS_IS, /* received as a peer has it */
  DEMUR_EXCHANGE_NEVER, /* DCMTK's network does not know it, or it is not read */
} DemurExchange;

typedef struct {
  const char *uid;
  const char *name;
  DemurCoding coding;
  gboolean lossy;
  DemurExchange exchange;
} DemurTransferSyntax;

/* The whole table; those that are received in the order in which they are preferred. */
const DemurTransferSyntax *demur_transfer_syntaxes(size_t *n);

/* The entry of uid; NULL where it is not known (private or newer). */
const DemurTransferSyntax *demur_transfer_syntax_find(const char *uid);

/* Name of a transfer syntax ("JPEG Lossless (1.2.840.10008.1.2.4.70)"); owned. */
char *demur_transfer_syntax_name(const char *uid);

G_END_DECLS

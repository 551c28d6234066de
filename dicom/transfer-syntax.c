#include "dicom/transfer-syntax.h"

#include <string.h>

#define PLAIN DEMUR_EXCHANGE_PLAIN
#define AS_IS DEMUR_EXCHANGE_AS_IS
#define NEVER DEMUR_EXCHANGE_NEVER

static const DemurTransferSyntax table[] = {
    {DEMUR_EXPLICIT_LITTLE_ENDIAN, "Explicit VR Little Endian", DEMUR_CODING_NATIVE, FALSE, PLAIN},
    {DEMUR_IMPLICIT_LITTLE_ENDIAN, "Implicit VR Little Endian", DEMUR_CODING_NATIVE, FALSE, PLAIN},
    {DEMUR_EXPLICIT_BIG_ENDIAN, "Explicit VR Big Endian", DEMUR_CODING_NATIVE, FALSE, AS_IS},
    {"1.2.840.10008.1.2.1.99", "Deflated Explicit VR Little Endian", DEMUR_CODING_DEFLATED, FALSE,
     AS_IS},
    {"1.2.840.10008.1.2.4.70", "JPEG Lossless SV1", DEMUR_CODING_JPEG, FALSE, AS_IS},
    {"1.2.840.10008.1.2.4.57", "JPEG Lossless", DEMUR_CODING_JPEG, FALSE, AS_IS},
    {"1.2.840.10008.1.2.4.80", "JPEG-LS Lossless", DEMUR_CODING_JPEG_LS, FALSE, AS_IS},
    {"1.2.840.10008.1.2.4.90", "JPEG 2000 Lossless", DEMUR_CODING_JPEG_2000, FALSE, AS_IS},
    {"1.2.840.10008.1.2.5", "RLE Lossless", DEMUR_CODING_RLE, FALSE, AS_IS},
    {"1.2.840.10008.1.2.4.81", "JPEG-LS Near-lossless", DEMUR_CODING_JPEG_LS, TRUE, AS_IS},
    {"1.2.840.10008.1.2.4.91", "JPEG 2000", DEMUR_CODING_JPEG_2000, TRUE, AS_IS},
    {"1.2.840.10008.1.2.4.50", "JPEG Baseline", DEMUR_CODING_JPEG, TRUE, AS_IS},
    {"1.2.840.10008.1.2.4.51", "JPEG Extended", DEMUR_CODING_JPEG, TRUE, AS_IS},
    {"1.2.840.10008.1.2.4.53", "JPEG Spectral Selection", DEMUR_CODING_JPEG, TRUE, NEVER},
    {"1.2.840.10008.1.2.4.55", "JPEG Full Progression", DEMUR_CODING_JPEG, TRUE, NEVER},
    {"1.2.840.10008.1.2.4.92", "JPEG 2000 Multi-component Lossless", DEMUR_CODING_UNREADABLE, FALSE,
     NEVER},
    {"1.2.840.10008.1.2.4.93", "JPEG 2000 Multi-component", DEMUR_CODING_UNREADABLE, TRUE, NEVER},
    {"1.2.840.10008.1.2.4.100", "MPEG2", DEMUR_CODING_UNREADABLE, TRUE, NEVER},
    {"1.2.840.10008.1.2.4.101", "MPEG2", DEMUR_CODING_UNREADABLE, TRUE, NEVER},
    {"1.2.840.10008.1.2.4.102", "MPEG-4", DEMUR_CODING_UNREADABLE, TRUE, NEVER},
    {"1.2.840.10008.1.2.4.103", "MPEG-4", DEMUR_CODING_UNREADABLE, TRUE, NEVER},
    {"1.2.840.10008.1.2.4.107", "HEVC", DEMUR_CODING_UNREADABLE, TRUE, NEVER},
    {"1.2.840.10008.1.2.4.201", "High-Throughput JPEG 2000 Lossless", DEMUR_CODING_JPEG_2000, FALSE,
     NEVER},
    {"1.2.840.10008.1.2.4.202", "High-Throughput JPEG 2000 RPCL Lossless", DEMUR_CODING_JPEG_2000,
     FALSE, NEVER},
    {"1.2.840.10008.1.2.4.203", "High-Throughput JPEG 2000", DEMUR_CODING_JPEG_2000, TRUE, NEVER},
    {"1.2.840.10008.1.2.4.94", "JPIP Referenced", DEMUR_CODING_UNREADABLE, FALSE, NEVER},
    {"1.2.840.10008.1.2.4.95", "JPIP Referenced Deflate", DEMUR_CODING_UNREADABLE, FALSE, NEVER},
    {"1.2.840.113619.5.2", "GE private implicit big endian", DEMUR_CODING_UNREADABLE, FALSE, NEVER},
};

const DemurTransferSyntax *
demur_transfer_syntaxes(size_t *n) {
  *n = G_N_ELEMENTS(table);
  return table;
}

const DemurTransferSyntax *
demur_transfer_syntax_find(const char *uid) {
  for (size_t i = 0; uid != NULL && i < G_N_ELEMENTS(table); i++)
    if (strcmp(table[i].uid, uid) == 0)
      return &table[i];
  return NULL;
}

char *
demur_transfer_syntax_name(const char *uid) {
  const DemurTransferSyntax *syntax = demur_transfer_syntax_find(uid);
  if (syntax != NULL)
    return g_strdup_printf("%s (%s)", syntax->name, uid);
  const gboolean standard = uid != NULL && g_str_has_prefix(uid, "1.2.840.10008.");
  return g_strdup_printf("%s (%s)", standard ? "unknown" : "private to its maker",
                         uid != NULL ? uid : "none");
}

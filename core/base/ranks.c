#include "base/ranks.h"

#include "base/error.h"
#include "base/sha256.h"

#define PARTED_WELL ((gint64)-1)
#define FAILED ((gint64)-2)

gboolean
demur_ranks_meet(const DemurRanks *ranks, guint64 label, GError **error) {
  const gint64 value = (gint64)(label & G_MAXINT64);
  gint64 least, greatest;
  ranks->extremes(value, &least, &greatest, ranks->data);
  if (least == greatest)
    return TRUE;
  if (least < 0)
    demur_error_set(error, DEMUR_ERROR_PEER, "another process of this work has failed");
  else
    demur_error_set(
        error, DEMUR_ERROR_INPUT,
        "the processes, or parts, of this work don't do the same: they read different data, or are "
        "of different programs or machines");
  return FALSE;
}

guint64
demur_ranks_label(const char *text) {
  g_autofree char *digest = demur_sha256_of_text(text);
  digest[15] = '\0'; /* 60 bits: a label has 63 */
  return g_ascii_strtoull(digest, NULL, 16);
}

gboolean
demur_ranks_part(const DemurRanks *ranks, gboolean well) {
  for (gint64 value = well ? PARTED_WELL : FAILED;; value = FAILED) {
    gint64 least, greatest;
    ranks->extremes(value, &least, &greatest, ranks->data);
    if (greatest < 0)
      return least == PARTED_WELL;
    /* Others met: they know now, and part next. */
  }
}

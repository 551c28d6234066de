/* A tape is what its rank said, in order: of a meeting the label (8 bytes), of an all-gather the
 * bytes themselves. Nothing tells one from the other but the order in which they are asked for: labels
 * stand before every gather, so a tape of another work is found out there. */
#include "base/ranks-tape.h"

#include <string.h>

#include "base/error.h"

struct DemurRanksTape {
  DemurRanks ranks;
  GByteArray *written; /* NULL: played */
  GBytes **tapes;      /* [ranks.size], where they are played */
  size_t *at;          /* [ranks.size] bytes read */
  gboolean *
      broken; /* [ranks.size] a piece was asked for that the tape does not have, or a label differs */
};

static void
write_label(gint64 value, gint64 *least, gint64 *greatest, gpointer data) {
  DemurRanksTape *tape = data;
  g_byte_array_append(tape->written, (const guint8 *)&value, sizeof value);
  *least = *greatest = value;
}

static void
write_own(const guint8 *own, guint8 *all, const size_t *lengths, gpointer data) {
  DemurRanksTape *tape = data;
  for (size_t r = 0; r < tape->ranks.size; r++) {
    if (r == tape->ranks.rank && lengths[r] > 0) {
      memcpy(all, own, lengths[r]);
      g_byte_array_append(tape->written, own, (guint)lengths[r]);
    } else {
      memset(all, 0, lengths[r]);
    }
    all += lengths[r];
  }
}

/* n bytes of rank r's tape; zeros where it has no more. */
static void
read_piece(DemurRanksTape *tape, size_t r, gpointer into, size_t n) {
  gsize length;
  const guint8 *bytes = g_bytes_get_data(tape->tapes[r], &length);
  if (n > length - tape->at[r]) {
    tape->broken[r] = TRUE;
    memset(into, 0, n);
    return;
  }
  if (n > 0)
    memcpy(into, bytes + tape->at[r], n);
  tape->at[r] += n;
}

static void
read_labels(gint64 value, gint64 *least, gint64 *greatest, gpointer data) {
  DemurRanksTape *tape = data;
  *least = *greatest = value;
  for (size_t r = 0; r < tape->ranks.size; r++) {
    gint64 label;
    read_piece(tape, r, &label, sizeof label);
    label &= G_MAXINT64; /* none of them says that it has failed */
    tape->broken[r] |= value >= 0 && label != value;
    *least = MIN(*least, label);
    *greatest = MAX(*greatest, label);
  }
}

static void
read_all(const guint8 *own, guint8 *all, const size_t *lengths, gpointer data) {
  (void)own;
  DemurRanksTape *tape = data;
  for (size_t r = 0; r < tape->ranks.size; r++) {
    read_piece(tape, r, all, lengths[r]);
    all += lengths[r];
  }
}

DemurRanksTape *
demur_ranks_tape_record(size_t rank, size_t size) {
  DemurRanksTape *tape = g_new0(DemurRanksTape, 1);
  tape->ranks = (DemurRanks){
      .rank = rank, .size = size, .extremes = write_label, .all_gather = write_own, .data = tape};
  tape->written = g_byte_array_new();
  return tape;
}

DemurRanksTape *
demur_ranks_tape_play(GBytes *const *tapes, size_t size) {
  DemurRanksTape *tape = g_new0(DemurRanksTape, 1);
  tape->ranks = (DemurRanks){.size = size,
                             .computes_none = TRUE,
                             .extremes = read_labels,
                             .all_gather = read_all,
                             .data = tape};
  tape->tapes = g_new(GBytes *, size);
  for (size_t r = 0; r < size; r++)
    tape->tapes[r] = g_bytes_ref(tapes[r]);
  tape->at = g_new0(size_t, size);
  tape->broken = g_new0(gboolean, size);
  return tape;
}

void
demur_ranks_tape_free(DemurRanksTape *tape) {
  if (tape == NULL)
    return;
  for (size_t r = 0; tape->tapes != NULL && r < tape->ranks.size; r++)
    g_bytes_unref(tape->tapes[r]);
  g_free(tape->tapes);
  g_free(tape->at);
  g_free(tape->broken);
  g_clear_pointer(&tape->written, g_byte_array_unref);
  g_free(tape);
}

const DemurRanks *
demur_ranks_tape_ranks(const DemurRanksTape *tape) {
  return &tape->ranks;
}

GBytes *
demur_ranks_tape_bytes(const DemurRanksTape *tape) {
  return g_bytes_new(tape->written->data, tape->written->len);
}

gboolean
demur_ranks_tape_fault(const DemurRanksTape *tape, size_t *rank) {
  for (size_t r = 0; r < tape->ranks.size; r++)
    if (tape->broken[r]) {
      *rank = r;
      return TRUE;
    }
  return FALSE;
}

gboolean
demur_ranks_tape_check_played(const DemurRanksTape *tape, GError **error) {
  gboolean whole = TRUE;
  for (size_t r = 0; r < tape->ranks.size; r++) {
    tape->broken[r] |= tape->at[r] != g_bytes_get_size(tape->tapes[r]);
    whole &= !tape->broken[r];
  }
  if (!whole)
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "the parts don't hold what this work asks for: compute them again with this "
                    "program, from what is merged here");
  return whole;
}

/* What is kept of an unfinished training: where every network stands, and of what training it is.
 */
#pragma once

#include "selector/settings.h"
#include "selector/trainer.h"

G_BEGIN_DECLS

typedef struct {
  char *settings; /* the training's settings, as their JSON document */
  guint64 seed;
  char *cohort_digest; /* of the rows of all parts */
  char *inputs_digest; /* of what the networks are trained on: features, risks, errors, groups */
  size_t n_networks;   /* models x networks averaged */
  DemurTrainerState **networks; /* [n_networks], model by model; NULL: not begun */
} DemurCheckpoint;

/* networks all NULL; texts are copied. */
DemurCheckpoint *demur_checkpoint_new(const DemurTrainSettings *settings, guint64 seed,
                                      const char *cohort_digest, const char *inputs_digest);
void demur_checkpoint_free(DemurCheckpoint *checkpoint);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurCheckpoint, demur_checkpoint_free)

/* Updates made by all networks so far. */
gint64 demur_checkpoint_n_updates(const DemurCheckpoint *checkpoint);

/* FALSE with DEMUR_ERROR_STATE and what differs where the training that asks is another than the
 * one this is of: other settings (named, with both values), seed or scans; DEMUR_ERROR_INPUT where
 * its networks are not those of its own settings. inputs_digest NULL: not known yet. */
gboolean demur_checkpoint_check(const DemurCheckpoint *checkpoint,
                                const DemurTrainSettings *settings, guint64 seed,
                                const char *cohort_digest, const char *inputs_digest,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The byte form, little endian, its SHA-256 at the end. */
GBytes *demur_checkpoint_to_bytes(const DemurCheckpoint *checkpoint);

/* NULL with DEMUR_ERROR_INPUT for bytes that are no checkpoint, damaged, cut short or hostile:
 * every size is checked against what is left before anything of it is allocated. */
DemurCheckpoint *demur_checkpoint_from_bytes(GBytes *bytes,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS

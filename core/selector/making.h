/* How a scan was made beside the training scans, for selectors that don't read it: what a reader of
 * a red flag may be told whatever holds it back. It is a function of the image's own header, so it
 * tells nobody who has the image anything of the risk; and for whoever has the program's output
 * alone, what is said is measured as reasons are (selector/reason-guess.h).
 *
 * Each attribute is within what the training scans have, or it is not: a number outside the 1st to
 * 99th percentile, a text (or its absence) of less than 1 % of them. Judged on the training scans of
 * the lowest scores, a tenth, three and five of them in turn: what is said of all attributes
 * together may not let their risks be guessed, or their logits, with an R^2 above
 * DEMUR_REASON_TELLING; while it does, the attribute goes without which least can be guessed. */
#pragma once

#include "features/acquisition.h"
#include "selector/reasons.h"

G_BEGIN_DECLS

typedef struct DemurMaking DemurMaking;

/* scans, risks (in (0, 1)), scores [n] of the training scans. NULL: there is nothing that differs
 * between them, or nothing that may be told. */
DemurMaking *demur_making_fit(const DemurAcquisitionScan *scans, const float *risks,
                              const float *scores, size_t n);
void demur_making_free(DemurMaking *making);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurMaking, demur_making_free)

/* Reasons of kind DEMUR_REASON_MADE, one an attribute that is outside what the training scans have;
 * behind them one of kind DEMUR_REASON_MADE_WITHIN with those that are within it. */
void demur_making_tell(const DemurMaking *making, const DemurAcquisitionScan *scan,
                       GPtrArray *reasons);

/* Members of the object that is open; read back with DEMUR_ERROR_INPUT where they are not sound. */
void demur_making_write_json(const DemurMaking *making, DemurJson *json);
DemurMaking *demur_making_read_json(JsonObject *object, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS

/* The right-hand column: what was decided about this scan, why, what its risk means here, and where
 * all that comes from. One update() of the session's current case; it keeps no copy. */
#pragma once

#include <gtk/gtk.h>

#include "ui/session.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_VERDICT_CARD (demur_verdict_card_get_type())
G_DECLARE_FINAL_TYPE(DemurVerdictCard, demur_verdict_card, DEMUR, VERDICT_CARD, GtkBox)

/* Whose cases it shows: once, before anything else. */
void demur_verdict_card_set_session(DemurVerdictCard *card, DemurSession *session);
/* Shows the current case as it is now. */
void demur_verdict_card_update(DemurVerdictCard *card);
/* Review in two steps: an opinion waits in sight until it is kept or dropped. It is of the verdict
 * that is shown, and waits through what others write about the same scan: where the card shows another verdict, another
 * scan or nothing, no opinion waits any more, and of a verdict that was made anew this is told. Nothing waits on a scan
 * without a verdict. */
void demur_verdict_card_propose(DemurVerdictCard *card, DemurReviewKind kind);
gboolean demur_verdict_card_keep(DemurVerdictCard *card); /* FALSE: nothing waits */
gboolean demur_verdict_card_drop(DemurVerdictCard *card);

G_END_DECLS

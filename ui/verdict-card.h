/* The right-hand column: what was decided about this scan, why, what its risk means here, and where
 * all that comes from. One update() of the session's current case; it keeps no copy. */
#pragma once

#include <gtk/gtk.h>

#include "ui/session.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_VERDICT_CARD (demur_verdict_card_get_type())
G_DECLARE_FINAL_TYPE(DemurVerdictCard, demur_verdict_card, DEMUR, VERDICT_CARD, GtkBox)

DemurVerdictCard *demur_verdict_card_new(DemurSession *session);
/* Shows the current case as it is now. */
void demur_verdict_card_update(DemurVerdictCard *card);
/* An opinion that waits for Enter; NULL: none. */
void demur_verdict_card_set_pending(DemurVerdictCard *card, const char *opinion);

G_END_DECLS

/* The part of the verdict card that says how usual a scan is: how many of the selector's reference
 * scans were made as it was, a bar each, and what became of the three most like it (site and scanner,
 * no identity). The latter speak of the risk and are shown where it is. */
#pragma once

#include <gtk/gtk.h>

#include "ui/session.h"

G_BEGIN_DECLS

#define DEMUR_TYPE_ALIKE_CARD (demur_alike_card_get_type())
G_DECLARE_FINAL_TYPE(DemurAlikeCard, demur_alike_card, DEMUR, ALIKE_CARD, GtkBox)

DemurAlikeCard *demur_alike_card_new(void);

/* Of the session's current case; invisible until something is found, and where nothing can be said: of
 * a cohort's scan, without a score, where the reference is not in the workspace. */
void demur_alike_card_show(DemurAlikeCard *card, DemurSession *session);

/* The workspace was read anew: what is known of its selectors is of before. */
void demur_alike_card_forget(DemurAlikeCard *card);

G_END_DECLS

/* The model card and the list of what reporting guidelines ask for: what the program knows is
 * filled in, the rest is left open by name. Internal to the room. */
#pragma once

#include "report/finding.h"
#include "report/layout.h"

G_BEGIN_DECLS

/* One page: what the selector is, for whom, how it was made and tested, and its limits. */
void demur_card_add(DemurLayout *layout, const DemurReportFinding *finding);

/* TRIPOD+AI, CLAIM and STARD-AI, item by item. */
void demur_checklist_add(DemurLayout *layout, const DemurReportFinding *finding);

G_END_DECLS

/* One study on its way through a service, a step at a time: read -> model -> assess -> answer.
 *
 * Each step can be repeated: what it did is found again and not done twice, whatever ended the step
 * before. A study that can't go on says why and when it is tried again, or is held. */
#pragma once

#include "tasks/intake.h"
#include "tasks/serve-config.h"
#include "tasks/serve-journal.h"

G_BEGIN_DECLS

/* What the steps share; borrowed. */
typedef struct {
  const DemurServeConfig *config;
  const DemurEligibility *rules;
  const DemurSiteMap *sites; /* NULL: none */
} DemurServeRules;

/* Does the step that the study is at, and sets where it stands then: another step, or the same with
 * why and next. now: seconds since 1970. TRUE where something came of it; FALSE where it waits or
 * was cancelled (then nothing is changed). The caller brings the study to the journal. */
gboolean demur_serve_study_step(DemurTask *task, const DemurServeRules *rules,
                                DemurServeStudy *study, gint64 now);

/* Delivers what is due of the study's answers; TRUE where anything changed. calling: our own AE
 * title where a destination names none. */
gboolean demur_serve_study_deliver(DemurTask *task, const DemurServeConfig *config,
                                   DemurServeStudy *study, gint64 now);

/* Removes the files of its answers: once the journal says that they were delivered, not before. */
void demur_serve_study_clear(const char *service_folder, const DemurServeStudy *study);

/* Seconds until the next attempt after so many: pause, doubled each time, an hour at most. */
gint64 demur_serve_pause(guint pause_seconds, guint tries);

G_END_DECLS

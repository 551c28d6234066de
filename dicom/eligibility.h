/* Which series may be assessed, by the rules of dicom/rules.h, and which one of a study is. Decided
 * from headers, before any score is seen.
 *
 * The choice among the eligible series of one study and patient: closest thickness to thin (the
 * thinnest first, unknown last), then a soft or standard kernel before an unknown one before a
 * sharp one, then more slices, then the lower series number, then the lower scan_id. (Non-axial,
 * derived and thick ones are not eligible.) */
#pragma once

#include "base/person.h"
#include "dicom/rules.h"

G_BEGIN_DECLS

typedef struct {
  size_t n_rules;
  DemurRule *rules; /* [n_rules], in the order in which reasons are told */
} DemurEligibility;

/* The rules of the project (docs: "When a series is accepted"). */
DemurEligibility *demur_eligibility_new(void);
void demur_eligibility_free(DemurEligibility *eligibility);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurEligibility, demur_eligibility_free)

/* Changes one rule; limit NaN keeps the limit. DEMUR_ERROR_USAGE for an unknown code (with the
 * list), a limit that is negative, or a limit for a rule without one. */
gboolean demur_eligibility_set(DemurEligibility *eligibility, const char *code,
                               DemurRuleAction action, double limit,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* One change as text: "few-slices=20" (a limit), "lossy=warn" (off, warn or refuse) or both,
 * "few-slices=warn:20". DEMUR_ERROR_USAGE where it is none. */
gboolean demur_eligibility_parse(DemurEligibility *eligibility, const char *change,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A file of such changes, one a line; blank lines and what follows a # are passed over.
 * DEMUR_ERROR_INPUT with the line where it can't be read or understood. */
gboolean demur_eligibility_read(DemurEligibility *eligibility, const char *path,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What differs from the project's rules, as demur_eligibility_parse takes it (strv, owned). */
char **demur_eligibility_changes(const DemurEligibility *eligibility);

/* NaN where there is no such rule. */
double demur_eligibility_limit(const DemurEligibility *eligibility, const char *code);

/* A series as the choice sees it. Texts are borrowed, may be NULL. */
typedef struct {
  const char *scan_id, *study_uid;
  DemurPerson person; /* base/person.h decides who is the same */
  gboolean eligible;
  double thickness_mm; /* NaN unknown */
  DemurKernelClass kernel_class;
  size_t n_slices;
  gint64 series_number;
  gboolean accepted; /* set by the choice */
  const char
      *preferred; /* set, borrowed: of an eligible one not chosen, the scan_id that is; else NULL */
  DemurPreference preferred_by;
} DemurCandidate;

/* Chooses one eligible series for each study and patient. */
void demur_eligibility_choose(DemurCandidate *candidates, size_t n);

/* Which of n candidates compete: those of one study and one person have the same number, from 0.
 * studies: [n]. */
void demur_eligibility_studies(const DemurCandidate *candidates, size_t n, guint *studies);

/* Fills findings, eligible and preferred of every series, and accepted by the choice within
 * each study. */
void demur_eligibility_judge(const DemurEligibility *eligibility, GPtrArray *series);

G_END_DECLS

/* What is said of a scan, and whether it still holds.
 *
 * A verdict is a fact about one person, one set of images, one score of one model, one selector and
 * one threshold. It is current as long as all of them are what they were; the causes why it is not
 * are derived from these bindings (store/bindings.h), never kept. Only a current, accepted verdict
 * tells its risk. Words for both: words/words.h. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DEMUR_VERDICT_ACCEPTED,
  DEMUR_VERDICT_RED_FLAG,
  DEMUR_VERDICT_NOT_ELIGIBLE, /* the series can't be assessed */
  DEMUR_VERDICT_NO_SCORE,     /* the model has not read it */
  DEMUR_VERDICT_NOT_TUNED,    /* the selector has no threshold */
  DEMUR_VERDICT_FAILED,
  DEMUR_N_VERDICTS,
} DemurVerdict;

/* "accepted", "red_flag" ..: as the workspace keeps it and JSON and CSV tell it. */
const char *demur_verdict_name(DemurVerdict verdict);
/* FALSE where the name is none of them (NULL too); *verdict is then untouched. */
gboolean demur_verdict_from_name(const char *name, DemurVerdict *verdict) G_GNUC_WARN_UNUSED_RESULT;

/* Why a verdict no longer holds: several may be true at once, 0 is a current one. */
typedef enum {
  DEMUR_CURRENT = 0,
  DEMUR_OUTDATED_PERSON = 1 << 0,    /* the person was corrected */
  DEMUR_OUTDATED_IMAGES = 1 << 1,    /* the images changed, or are gone */
  DEMUR_OUTDATED_CONFLICT = 1 << 2,  /* the same UIDs came with other content or another person */
  DEMUR_OUTDATED_CHOICE = 1 << 3,    /* what is assessed of the study was chosen anew */
  DEMUR_OUTDATED_SCORE = 1 << 4,     /* the score was replaced, or is gone */
  DEMUR_OUTDATED_SELECTOR = 1 << 5,  /* the selector was trained anew, or removed */
  DEMUR_OUTDATED_THRESHOLD = 1 << 6, /* another threshold is in use */
  DEMUR_OUTDATED_AUDIT = 1 << 7,     /* the site was audited */
  DEMUR_OUTDATED_COHORT = 1 << 8,    /* the cohort was replaced, or removed */
  DEMUR_OUTDATED_UNBOUND = 1 << 9,   /* of an older program: bound by names only */
  DEMUR_OUTDATED_MODEL = 1 << 10,    /* its cohort now holds scores of another model than its
                                      * selector reads */
  DEMUR_OUTDATED_MAKING =
      1 << 11, /* what is recorded of its site, or of how it was made, changed */
  DEMUR_OUTDATED_RECORD = 1 << 12, /* it is not what was written: changed past the program */
} DemurOutdated;

#define DEMUR_N_OUTDATED 13

typedef enum {
  DEMUR_VERDICT_CURRENT,
  DEMUR_VERDICT_OUT_OF_DATE,
} DemurVerdictState;

DemurVerdictState demur_verdict_state(DemurOutdated why);
/* "current", "out_of_date". */
const char *demur_verdict_state_name(DemurVerdictState state);
/* "score_replaced", "images_changed" .. of one cause: 1 << i, i < DEMUR_N_OUTDATED. */
const char *demur_outdated_name(DemurOutdated cause);

/* What leads on to a verdict that holds and tells more. */
typedef enum {
  DEMUR_REMEDY_NONE,    /* it holds */
  DEMUR_REMEDY_ASSESS,  /* assess again */
  DEMUR_REMEDY_RESOLVE, /* a contradiction waits: a person decides first */
  DEMUR_REMEDY_TUNE,    /* its selector gets a threshold first: assessed as it is it gains none */
  DEMUR_REMEDY_SCORE,   /* the model's score comes first */
  DEMUR_REMEDY_TRAIN,   /* there is no selector: one comes first */
  DEMUR_REMEDY_COHORT,  /* the cohort comes again first, with the model that its scores are of */
} DemurRemedy;

DemurRemedy demur_outdated_remedy(DemurOutdated why);
/* Of a verdict that is out of date as above; else of what it says. */
DemurRemedy demur_verdict_remedy(DemurVerdict verdict, DemurOutdated why);
/* "assess", "resolve", "tune", "score", "train", "cohort"; NULL: none. */
const char *demur_remedy_name(DemurRemedy remedy);

/* Whether somebody can agree or disagree with it: something was decided about the scan. Nothing was
 * where the model has not read it, there is no threshold, or it failed. */
gboolean demur_verdict_is_decision(DemurVerdict verdict);

/* Whether the risk may be shown without being asked for. */
gboolean demur_verdict_tells_risk(DemurVerdict verdict, DemurOutdated why);

G_END_DECLS

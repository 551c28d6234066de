/* Why a scan got its verdict, as data: worded once, at the edge, in the reader's language
 * (words/words.h). No code reads a sentence to decide anything.
 *
 * Kept and exchanged as a JSON array. An older program kept sentences there: each becomes a reason
 * of kind DEMUR_REASON_LEGACY, told as it stands, and taken for one that tells the risk, since
 * nobody can say that it doesn't. */
#pragma once

#include <glib.h>

#include "base/json-writer.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_REASON_LEGACY,       /* text: a sentence of an older program */
  DEMUR_REASON_FEATURE,      /* subject: a meta feature's column; value, place, median, low, high */
  DEMUR_REASON_NUMBER,       /* subject: an attribute of how the scan was made; the same */
  DEMUR_REASON_GROUP,        /* subject likewise, text: its value; share of the training scans */
  DEMUR_REASON_NOT_RECORDED, /* subject likewise; share of the training scans */
  DEMUR_REASON_SIMILAR,      /* n training scans most like it: too high at n_over of n_sites, and
                              * n_events of them with the outcome (0: too few or many to be told)
                              * where their risks expect value; NaN: of an older program */
  DEMUR_REASON_UNLIKE,   /* the image lies beyond `beyond` of the training scans by a measure that
                              * is not named, since which one would tell the risk */
  DEMUR_REASON_NEAREST,  /* the same n scans: share of them from the site subject, the most
                              * frequent of n_sites; text: those of DEMUR_SMALL_CELL and more */
  DEMUR_REASON_MADE,     /* the selector doesn't read it: subject: an attribute of how the scan was
                           * made that is outside what the training scans have; value, low, high and
                           * place, or text; neither: not recorded */
  DEMUR_REASON_WITHHELD, /* what else there is would tell the risk */
  DEMUR_REASON_MADE_WITHIN, /* text: attributes that are within it, separated by commas */
  DEMUR_REASON_MOSTLY, /* of the n training scans that the threshold refuses share are refused first
                        * for: subject "risk", "image" or "making"; the same
                        * for every scan */
  DEMUR_REASON_NOT_TUNED,    /* the selector has no threshold */
  DEMUR_REASON_NO_SCORE,     /* subject: the model whose score is wanted */
  DEMUR_REASON_OTHER_MODEL,  /* the same; text: the model whose score is there */
  DEMUR_REASON_OTHER_IMAGES, /* subject: the model; its score is of images that changed since */
  DEMUR_REASON_WIDTH,        /* the score's embedding has width n, wanted is n_over */
  DEMUR_REASON_SERIES,       /* text: why it is not assessed, a sentence of an older program */
  DEMUR_REASON_NOT_CHOSEN,   /* another series of the study is assessed */
  DEMUR_REASON_OVERRULED, /* a person chose it; subject: why, text: what the rules said, or NULL */
  DEMUR_REASON_CONFLICT, /* SAFETY: its UIDs came with other content or another person; text: "person"
                           * or "content" where it waits for a decision */
  DEMUR_REASON_CROSSES, /* its risk's interval at this hospital holds the decision threshold value
                           */
  DEMUR_REASON_FILES,   /* what lies at its stored paths is not what was imported */
  DEMUR_REASON_RUN_FAILED, /* subject: the model; text: how its last run ended without a score */
  DEMUR_REASON_HORIZON,    /* subject: the model; its score has no risk within `value` years */
  DEMUR_REASON_WATCH, /* the watch stopped: subject: the alarm's signal; text: since when; n: the alarm
                            */
  DEMUR_REASON_RULE, /* a rule of eligibility (dicom/rules.h) is broken: subject: its code, n: which
                               * of its sentences tells it, values */
  DEMUR_REASON_PREFERRED, /* eligible; subject: the series of the study that is assessed; text: by what it
                               * is preferred (demur_preference_name of dicom/series.h) */
  DEMUR_REASON_PERSON_CHOSE,  /* subject: the series that a person chose instead; text: why */
  DEMUR_REASON_CHOSEN_BEFORE, /* eligible; subject: the series that was chosen when its score came */
  DEMUR_REASON_CHOSEN_IS_OUT, /* the same, and it is not eligible now */
  DEMUR_REASON_TOGETHER, /* the risk of the same scan within `value` years is held back, and this one
                          * would tell much of it */
  DEMUR_N_REASONS,
} DemurReasonKind;

/* Where a value lies among the training scans (FEATURE: among the accepted ones). */
typedef enum {
  DEMUR_PLACE_UNKNOWN,
  DEMUR_PLACE_BELOW, /* the 1st percentile */
  DEMUR_PLACE_LOW,   /* below the median */
  DEMUR_PLACE_MEDIAN,
  DEMUR_PLACE_HIGH,  /* above the median */
  DEMUR_PLACE_ABOVE, /* the 99th percentile */
} DemurReasonPlace;

typedef struct {
  DemurReasonKind kind;
  DemurReasonPlace place;
  char *subject, *text;            /* NULL: none */
  char **values;                   /* of a rule, in the order of its sentence; NULL: none */
  double value, median, low, high; /* low and high: 1st and 99th percentile; NaN: none */
  double share;                    /* of the training scans, 0 to 1 */
  double beyond;  /* share of the training scans that it lies beyond: of those below it where place
                   * is high, of those above where it is low; NaN: not known */
  gboolean rough; /* beyond or share is the lower edge of a band (demur_reason_band) */
  double score, changed; /* the selector's score, and what it would be at the median; NaN: none */
  guint n, n_over, n_sites, n_events;
  gboolean tells_risk; /* goes where the risk goes, and nowhere else */
} DemurReason;

/* A reason of that kind of which nothing else is known. subject, text: copied, may be NULL. */
DemurReason *demur_reason_new(DemurReasonKind kind, const char *subject, const char *text);
DemurReason *demur_reason_copy(const DemurReason *reason);
void demur_reason_free(DemurReason *reason);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurReason, demur_reason_free)

/* "feature", "similar" ..; "above_p99" .. */
const char *demur_reason_kind_name(DemurReasonKind kind);
const char *demur_reason_place_name(DemurReasonPlace place);

/* Of kind SIMILAR: whether its subject is the risk, else the top probability. */
gboolean demur_reason_is_of_risk(const DemurReason *reason);

/* What is no reason of the scan's own and stands below those, without a number: that others are not
 * told, and what surrounds a verdict. */
gboolean demur_reason_is_remark(const DemurReason *reason);
/* A remark on scans at large: where this one is like the others, and for what most are refused. They
 * stand last. */
gboolean demur_reason_is_context(const DemurReason *reason);

/* An array that owns its DemurReason, most important first. */
GPtrArray *demur_reasons_new(void);

/* One reason as an object: kind, tells_risk, and what else it has. */
void demur_reason_write(DemurJson *json, const DemurReason *reason);
/* The array as one line of JSON (owned), and back. What is no such array, or no such reason in it,
 * gives no reason: a damaged workspace is named by `demur verify`, not here. json may be NULL. */
char *demur_reasons_to_json(const GPtrArray *reasons);
GPtrArray *demur_reasons_from_json(const char *json);
/* The same of a text where an older program kept one bare sentence: then a reason of kind
 * DEMUR_REASON_SERIES. NULL: none. */
GPtrArray *demur_reasons_from_kept(const char *kept);
/* One reason as an array in one line of JSON (owned). */
char *demur_reason_kept(const DemurReason *reason);

/* Kind and subject of the first reason that may be told without the risk ("feature:knn", "withheld"
 * where there is none; owned): for putting scans in order by their reasons. NULL: no reason. */
char *demur_reasons_lead(const GPtrArray *reasons);

/* Lower edges of the bands that a share is told by: 0, .5, .75, .9, .95, .99. */
#define DEMUR_REASON_BANDS 6
extern const double demur_reason_bands[DEMUR_REASON_BANDS];
/* The edge of the band of a share (NaN: 0), and its place in the list (may be NULL). */
double demur_reason_band(double beyond, guint *band);

/* What may be told: everything where the risk may (tells_risk), else the reasons that don't tell
 * it, roughly (without values and scores, shares as bands, since each digit says something of the
 * risk), and one of kind DEMUR_REASON_WITHHELD behind what the selector gives as reasons, whether
 * or not there is more, since that would say something too; then what surrounds the verdict (owned
 * copies). */
GPtrArray *demur_reasons_shown(const GPtrArray *reasons, gboolean tells_risk);

G_END_DECLS

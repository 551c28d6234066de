/* What became of a selector in use: its local acceptance tests and its watches, for the report's pages,
 * its JSON and the charts. Plain data of the caller's.
 *
 * What would tell of few patients is left out here already, so that no page, chart or file can: paths
 * go in steps of DEMUR_SMALL_CELL patients at least, shares of few and outcomes of few are NaN or
 * NULL. */
#pragma once

#include "base/json-writer.h"
#include "base/translate.h"
#include "evaluation/acceptance.h"
#include "evaluation/watch.h"

G_BEGIN_DECLS

typedef struct {
  DemurWatchSignal signal;
  const char *title; /* "reconstruction kernel" */
  DemurWatchRule rule;
  size_t n, n_waiting;      /* patients that count; labels that wait for earlier patients' */
  double now, most;         /* e-values: the last, the largest */
  const char *most_reached; /* when it was the largest; NULL: never above 1 */
  double limit;             /* the e-value that is an alarm */
  gboolean alarm;
  const char *alarm_reached; /* when; NULL: no alarm */
  const char *change;        /* in words; NULL: nothing to tell, or of too few patients */
  const char *change_iso;    /* the same for the JSON */
  const char *since;         /* when it began, where change is told */
  size_t n_points;
  const size_t *at;         /* [n_points] patients, ascending */
  const double *evidence;   /* [n_points] the e-value behind them */
  const char *first, *last; /* when the first and the last of the patients came; NULL: none */
  size_t change_at;         /* patients before the change */
  size_t alarm_at;          /* patients until the alarm; 0: none */
} DemurReportSignal;

typedef struct {
  DemurWatchSignal signal;
  const char *title;                         /* of the signal */
  const char *change, *change_iso, *created; /* iso: for the JSON */
  gboolean withholds;
  const char *lifted, *lifted_by, *lifted_why; /* NULL: not lifted */
} DemurReportAlarm;

/* An alarm of another watch that stops the selector too. */
typedef struct {
  gint64 alarm;
  DemurWatchSignal signal;
  const char *selector, *site; /* that the watch is over; site NULL: every one */
  const char *created;
  gboolean unsure;          /* nothing tells whether it is this selector */
  const char *sentence_iso; /* for the JSON */
} DemurReportStop;

typedef struct {
  gint64 id;
  const char *site;      /* NULL: every site */
  const char *reference; /* cohort; NULL: the patients before it began */
  const char *began, *plan_digest, *headline;
  const char *headline_iso; /* the same for the JSON */
  gboolean simulated, outdated, stopped;
  double alpha,
      limit; /* limit: the e-value that is an alarm of every signal; NaN: each has its own */
  size_t n_patients, n_scans, n_again, n_before, n_trained, n_gone;
  size_t n_signals;
  const DemurReportSignal *signals;
  size_t n_alarms;
  const DemurReportAlarm *alarms; /* newest first */
  size_t n_stops;
  const DemurReportStop *stops; /* newest first */
} DemurReportWatch;

/* A look at labels. NaN: told by too few outcomes. */
typedef struct {
  size_t n_labels;
  double ratio, low, high; /* O:E, 95 % confidence sequence */
} DemurReportLook;

typedef struct {
  const char *site, *cohort, *planned, *plan_digest;
  gboolean simulated, outdated; /* outdated: the selector is another now */
  double range_low, range_high, alpha, power;
  double alpha_of_all; /* over this plan and the n_earlier whose labels were looked at */
  size_t n_earlier;    /* .. of the selector at the site, as the last answer knew them */
  double coverage_asked, coverage, coverage_low, coverage_high; /* of the site's patients shown */
  size_t n_needed, n_planned; /* labels for `power` at O:E 1, 0: more than can be; in the table */
  double audit_intercept;     /* 0: no audit */
  size_t n_looks;
  const DemurReportLook *looks; /* oldest first; the last is the one below; 0: no label was seen */
  gboolean answered;            /* an outcome was looked at; else what follows is not set */
  DemurAcceptanceAnswer answer;
  const char *looked, *labels_digest;
  gboolean labels_changed; /* .. since an earlier look, or were taken out */
  gboolean coverage_kept;
  gboolean
      few; /* fewer than DEMUR_SMALL_CELL with, or without, the outcome: what follows is NaN or 0 */
  size_t n_labels, n_events, n_more;
  double ratio, ratio_low, ratio_high;
  double unaudited, unaudited_low, unaudited_high; /* O:E without the audit; NaN: no audit */
  double evidence_above, evidence_below;           /* e-values; an answer is 1 / alpha of both */
  double intercept, intercept_low, intercept_high, auroc, auroc_low, auroc_high;
} DemurReportAcceptance;

/* Up to which row each kind was looked at: what came later is not in it. */
typedef struct {
  gint64 watch, verdict, label, alarm, lift, plan, acceptance;
} DemurReportUpTo;

typedef struct {
  DemurReportUpTo up_to;
  size_t n_watches;
  const DemurReportWatch *watches;
  size_t n_stops;
  const DemurReportStop *stops; /* that no watch of these lists, newest first */
  size_t n_acceptances;
  const DemurReportAcceptance *acceptances;
} DemurReportUse;

/* Members used_up_to, watches, stopped_by and acceptances of the open object; use NULL: nothing. */
void demur_report_use_write(DemurJson *json, const DemurReportUse *use);

/* An e-value for people (owned): "3.2", "41", "1,204", "over 1,000,000", by this thread's marks
 * (report/format.h). */
char *demur_text_evidence(double evidence, DemurTranslate translate);

G_END_DECLS

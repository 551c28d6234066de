/* What a use case warns of: data in what it returns, worded once at the edge. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DEMUR_TASK_WARNING_UNTRAINED,     /* networks as drawn: n of n_all were never trained */
  DEMUR_TASK_WARNING_TUNED_ON_TEST, /* the split that evaluate and report take by default */
  DEMUR_TASK_WARNING_SEEN,          /* n patients made the selector */
  DEMUR_TASK_WARNING_SITE_TRAINED,  /* the audited site helped to train the selector: subject */
  DEMUR_TASK_WARNING_NO_EMBEDDINGS, /* the cohort has none: trained without outlier features */
  DEMUR_TASK_WARNING_FEDERATED,     /* it comes from n studies of sites: subject, of the last */
  DEMUR_N_TASK_WARNINGS,
} DemurTaskWarningKind;

typedef struct {
  DemurTaskWarningKind kind;
  size_t n, n_all; /* of the kind */
  char *subject;   /* of the kind; NULL: none */
} DemurTaskWarning;

/* An empty list of DemurTaskWarning, which frees its elements. */
GPtrArray *demur_task_warnings_new(void);

/* subject is copied. */
void demur_task_warnings_add(GPtrArray *warnings, DemurTaskWarningKind kind, size_t n, size_t n_all,
                             const char *subject);

/* Text in the reader's language, with the same conversions as its argument. */
typedef const char *(*DemurTaskTranslate)(const char *text);

/* One sentence without its full stop (owned). translate NULL: English. */
char *demur_task_warning_words(const DemurTaskWarning *warning, DemurTaskTranslate translate);

/* Marks a text that is translated when it is said. */
#define DEMUR_TASK_WORD(text) (text)

G_END_DECLS

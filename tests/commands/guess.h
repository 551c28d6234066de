/* A reader who keeps books: guesses a number of each row from everything else that is shown of it.
 *
 *   F_0 = mean;  F_t = F_(t-1) + .15 tree_t,  trees of two levels fitted to the residuals by least
 *   squares (gradient boosting: Friedman, Annals of Statistics 29, 2001), splits at quantiles.
 *
 * Shown rows are sets of named numbers; what a row lacks is a value of its own. */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

typedef struct Shown Shown;

Shown *shown_new(size_t n_rows);
void shown_free(Shown *shown);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Shown, shown_free)

void shown_add(Shown *shown, size_t row, const char *name, double value);
/* A text: that it is this one, each of its words, and each of its numbers by its place. */
void shown_add_text(Shown *shown, size_t row, const char *name, const char *text);
/* All members of an object, and of what it holds, but those that are named in except. */
void shown_add_json(Shown *shown, size_t row, const char *name, JsonNode *node,
                    const char *const *except);

/* R^2 of the rows from n_fit on, guessed by what was learnt of those before. Against the mean of
 * the latter. *n_features: how many of what is shown differ between rows. */
double shown_guess(const Shown *shown, const double *targets, size_t n_fit, size_t *n_features);

G_END_DECLS

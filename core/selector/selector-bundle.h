/* What a selector's file holds: one selector, or the selectors of a family, one a horizon, whole or
 * not at all.
 *
 * Of one selector: its document (selector.h), as it always was. Of a family one canonical JSON
 * document: `digest` (SHA-256 of the rest), `format`, `version`, `family`, `model`, `horizons` (the
 * years, ascending) and `members`, for each of them the document that its own file would be, with
 * its own digest. So a file from which a horizon was taken, to which one was added, or whose members
 * are not of one family and model is refused, and which one it is, is said. docs/selector-file.md. */
#pragma once

#include "cohort/cohort.h" /* DEMUR_N_YEARS */
#include "selector/selector.h"

G_BEGIN_DECLS

#define DEMUR_SELECTOR_FAMILY_VERSION 1

typedef struct {
  char *family; /* that its members were trained as; NULL: one selector, which is members[0] */
  char *digest; /* of the whole document */
  size_t n;
  DemurSelector *members[DEMUR_N_YEARS]; /* [n] by growing horizon */
  int years[DEMUR_N_YEARS];              /* [n] their horizons; of one selector not set */
} DemurSelectorBundle;

/* The selectors [n] of a family, by growing horizon (each a new reference); names [n]: what to call
 * them in messages; bundle: all zero.
 * DEMUR_ERROR_STATE where they are not of one family and one model, or not of whole years from 1 to
 * DEMUR_N_YEARS. */
gboolean demur_selector_bundle_of_family(DemurSelector *const *members, const char *const *names,
                                         size_t n, DemurSelectorBundle *bundle,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* One selector (a new reference). */
void demur_selector_bundle_of_one(DemurSelector *selector, DemurSelectorBundle *bundle);

/* The document (owned). */
char *demur_selector_bundle_to_json(const DemurSelectorBundle *bundle);

/* bundle: all zero, and so on failure. Errors: as demur_selector_from_json, of a member with its
 * place; name: what to call it in messages. */
gboolean demur_selector_bundle_from_json(const char *text, gssize length, const char *name,
                                         DemurSelectorBundle *bundle,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

gboolean demur_selector_bundle_is_simulated(const DemurSelectorBundle *bundle);

void demur_selector_bundle_clear(DemurSelectorBundle *bundle);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DemurSelectorBundle, demur_selector_bundle_clear)

G_END_DECLS

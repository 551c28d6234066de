/* The file of a family: written and read with each member as its own file would be. */
#include "selector/selector-bundle.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/json-reader.h"
#include "base/json-writer.h"
#include "base/sha256.h"
#include "selector/selector-private.h"

#define FORMAT "demur-selector-family"

void
demur_selector_bundle_clear(DemurSelectorBundle *bundle) {
  for (size_t i = 0; i < bundle->n; i++)
    demur_selector_unref(bundle->members[i]);
  g_free(bundle->family);
  g_free(bundle->digest);
  *bundle = (DemurSelectorBundle){0};
}

gboolean
demur_selector_bundle_is_simulated(const DemurSelectorBundle *bundle) {
  gboolean any = FALSE;
  for (size_t i = 0; i < bundle->n; i++)
    any |= demur_selector_is_simulated(bundle->members[i]);
  return any;
}

/* What stands before the members. */
static void
write_head(const DemurSelectorBundle *bundle, DemurJson *json) {
  demur_json_string(json, "format", FORMAT);
  demur_json_int(json, "version", DEMUR_SELECTOR_FAMILY_VERSION);
  demur_json_string(json, "family", bundle->family);
  demur_json_string(json, "model", demur_selector_model(bundle->members[0]));
  demur_json_begin_array(json, "horizons");
  for (size_t i = 0; i < bundle->n; i++)
    demur_json_int(json, NULL, bundle->years[i]);
  demur_json_end_array(json);
}

/* The digest of the document without it, member by member: the whole is not held for it. */
static void
seal(DemurSelectorBundle *bundle) {
  DemurSha256 sha;
  demur_sha256_init(&sha);
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  write_head(bundle, json);
  demur_json_begin_array(json, "members");
  for (size_t i = 0; i < bundle->n; i++) {
    demur_selector_write_json(bundle->members[i], json, NULL);
    g_autofree char *text = demur_json_take(json);
    demur_sha256_update(&sha, text, strlen(text));
  }
  demur_json_end_array(json);
  demur_json_end_object(json);
  g_autofree char *rest = demur_json_finish(json);
  demur_sha256_update(&sha, rest, strlen(rest));
  guint8 bytes[DEMUR_SHA256_BYTES];
  demur_sha256_finish(&sha, bytes);
  g_free(bundle->digest);
  bundle->digest = g_malloc(DEMUR_SHA256_HEX);
  demur_sha256_hex(bytes, bundle->digest);
}

void
demur_selector_bundle_of_one(DemurSelector *selector, DemurSelectorBundle *bundle) {
  *bundle = (DemurSelectorBundle){.digest = g_strdup(demur_selector_digest(selector)),
                                  .n = 1,
                                  .members = {demur_selector_ref(selector)}};
}

static int
whole_years(const DemurSelector *selector) {
  const double years = demur_selector_horizon_years(selector);
  return years >= 1.0 && years <= DEMUR_N_YEARS && years == floor(years) ? (int)years : 0;
}

/* Whether a member belongs behind the ones before it; what: its name, for the message. */
static gboolean
belongs(const DemurSelectorBundle *bundle, const DemurSelector *member, const char *what, int code,
        GError **error) {
  const char *family = demur_selector_settings(member)->family;
  const int years = whole_years(member);
  if (family == NULL)
    demur_error_set(error, code, "%s is of no family: it was trained by itself", what);
  else if (g_strcmp0(family, bundle->family) != 0)
    demur_error_set(error, code, "%s was trained as family %s, not %s", what, family,
                    bundle->family);
  else if (bundle->n > 0 &&
           g_strcmp0(demur_selector_model(member), demur_selector_model(bundle->members[0])) != 0)
    demur_error_set(error, code, "%s reads the scores of model %s, the one before it those of %s",
                    what, demur_selector_model(member), demur_selector_model(bundle->members[0]));
  else if (years == 0)
    demur_error_set(error, code, "%s is of a risk within %g years, not of whole years from 1 to %d",
                    what, demur_selector_horizon_years(member), DEMUR_N_YEARS);
  else if (bundle->n > 0 && years <= bundle->years[bundle->n - 1])
    demur_error_set(error, code, "%s is of horizon %d, the one before it of %d", what, years,
                    bundle->years[bundle->n - 1]);
  else
    return TRUE;
  return FALSE;
}

static void
add(DemurSelectorBundle *bundle, DemurSelector *member) {
  bundle->years[bundle->n] = whole_years(member);
  bundle->members[bundle->n++] = demur_selector_ref(member);
}

gboolean
demur_selector_bundle_of_family(DemurSelector *const *members, const char *const *names, size_t n,
                                DemurSelectorBundle *bundle, GError **error) {
  g_return_val_if_fail(n > 0 && n <= DEMUR_N_YEARS, FALSE);
  bundle->family = g_strdup(demur_selector_settings(members[0])->family);
  for (size_t i = 0; i < n; i++) {
    if (!belongs(bundle, members[i], names[i], DEMUR_ERROR_STATE, error)) {
      demur_selector_bundle_clear(bundle);
      return FALSE;
    }
    add(bundle, members[i]);
  }
  seal(bundle);
  return TRUE;
}

char *
demur_selector_bundle_to_json(const DemurSelectorBundle *bundle) {
  if (bundle->family == NULL)
    return demur_selector_to_json(bundle->members[0]);
  DemurJson *json = demur_json_new();
  demur_json_begin_object(json, NULL);
  demur_json_string(json, "digest", bundle->digest);
  write_head(bundle, json);
  demur_json_begin_array(json, "members");
  for (size_t i = 0; i < bundle->n; i++)
    demur_selector_write_json(bundle->members[i], json, NULL);
  demur_json_end_array(json);
  demur_json_end_object(json);
  return demur_json_finish(json);
}

/* The years that "horizons" names. */
static gboolean
read_horizons(JsonArray *array, int years[DEMUR_N_YEARS], size_t *n, GError **error) {
  const gboolean ok = demur_json_read_ascending(array, DEMUR_N_YEARS, years, n);
  if (!ok)
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "member 'horizons' is not a list of years from 1 to %d, ascending, each once",
                    DEMUR_N_YEARS);
  return ok;
}

/* The member that should be the horizon's, and is read as a file of its own would be. */
static gboolean
read_member(JsonArray *array, guint i, int years, DemurSelectorBundle *bundle, GError **error) {
  JsonObject *object;
  if (!demur_json_read_element(array, i, "members", &object, error))
    return FALSE;
  g_autofree char *what = g_strdup_printf("members[%u]", i);
  g_autoptr(DemurSelector) member = demur_selector_from_object(object, what, error);
  if (member == NULL || !belongs(bundle, member, what, DEMUR_ERROR_INPUT, error))
    return FALSE;
  if (whole_years(member) != years) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "horizon %d, which 'horizons' names, is lacking: %s is of horizon %d", years,
                    what, whole_years(member));
    return FALSE;
  }
  add(bundle, member);
  return TRUE;
}

static gboolean
read_family(JsonObject *root, DemurSelectorBundle *bundle, GError **error) {
  const char *digest, *family, *model;
  gint64 version;
  JsonArray *horizons, *members;
  int years[DEMUR_N_YEARS];
  size_t n;
  if (!demur_json_read_int(root, "version", 1, G_MAXINT64, &version, error))
    return FALSE;
  if (version > DEMUR_SELECTOR_FAMILY_VERSION) {
    demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                    "format version %" PRId64 " is newer than this program's %d; update demur",
                    version, DEMUR_SELECTOR_FAMILY_VERSION);
    return FALSE;
  }
  if (!demur_json_read_string(root, "digest", &digest, error) ||
      !demur_json_read_string(root, "family", &family, error) ||
      !demur_json_read_string(root, "model", &model, error) ||
      !demur_json_read_array(root, "horizons", &horizons, error) ||
      !read_horizons(horizons, years, &n, error) ||
      !demur_json_read_array(root, "members", &members, error))
    return FALSE;
  bundle->family = g_strdup(family);
  const guint n_members = json_array_get_length(members);
  for (guint i = 0; i < (guint)n; i++) {
    if (i >= n_members) {
      demur_error_set(error, DEMUR_ERROR_INPUT,
                      "horizon %d, which 'horizons' names, is lacking: 'members' ends before it",
                      years[i]);
      return FALSE;
    }
    if (!read_member(members, i, years[i], bundle, error))
      return FALSE;
  }
  if (n_members > n) {
    demur_error_set(error, DEMUR_ERROR_INPUT,
                    "member 'members' holds %u selectors where 'horizons' names %zu", n_members, n);
    return FALSE;
  }
  if (strcmp(model, demur_selector_model(bundle->members[0])) != 0) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "member 'model' is %s, that of the selectors is %s",
                    model, demur_selector_model(bundle->members[0]));
    return FALSE;
  }
  seal(bundle);
  if (strcmp(digest, bundle->digest) == 0)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_INPUT,
      "it was changed after it was written: its digest is %.12s.., its content's %.12s..", digest,
      bundle->digest);
  return FALSE;
}

gboolean
demur_selector_bundle_from_json(const char *text, gssize length, const char *name,
                                DemurSelectorBundle *bundle, GError **error) {
  g_autoptr(JsonNode) document = demur_selector_load_root(text, length, name, error);
  if (document == NULL)
    return FALSE;
  JsonObject *root = json_node_get_object(document);
  const char *format;
  if (demur_json_read_string(root, "format", &format, NULL) && strcmp(format, FORMAT) == 0) {
    g_autoptr(GError) local = NULL;
    if (read_family(root, bundle, &local))
      return TRUE;
    demur_selector_bundle_clear(bundle);
    const int code = local->domain == DEMUR_ERROR ? local->code : DEMUR_ERROR_INPUT;
    demur_error_set(error, code, "%s is not a usable family of selectors: %s", name,
                    local->message);
    demur_error_because(error, local);
    return FALSE;
  }
  g_autoptr(DemurSelector) selector = demur_selector_from_object(root, name, error);
  if (selector != NULL)
    demur_selector_bundle_of_one(selector, bundle);
  return selector != NULL;
}

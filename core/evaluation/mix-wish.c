/* What is wanted of a column, as it is written: evaluation/mix.h. */
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "evaluation/mix.h"

void
demur_mix_wish_free(DemurMixWish *wish) {
  if (wish == NULL)
    return;
  g_free(wish->by);
  g_ptr_array_unref(wish->values);
  g_array_unref(wish->shares);
  g_free(wish);
}

/* The parts between commas that no backslash stands before (owned texts). */
static GPtrArray *
split_parts(const char *text) {
  GPtrArray *parts = g_ptr_array_new_with_free_func(g_free);
  GString *part = g_string_new(NULL);
  for (const char *c = text;; c++) {
    if (c[0] == '\\' && c[1] == ',') {
      g_string_append_c(part, *++c);
    } else if (*c == ',' || *c == '\0') {
      g_ptr_array_add(parts, g_strdup(part->str));
      g_string_truncate(part, 0);
      if (*c == '\0')
        break;
    } else {
      g_string_append_c(part, *c);
    }
  }
  g_string_free(part, TRUE);
  return parts;
}

/* "VALUE:SHARE" */
static gboolean
take_part(DemurMixWish *wish, const char *part, GError **error) {
  const char *colon = strrchr(part, ':');
  double share;
  if (colon == NULL || !demur_number_parse(colon + 1, strlen(colon + 1), &share) ||
      !(share >= 0.0 && share <= 1.0)) {
    demur_error_set(
        error, DEMUR_ERROR_USAGE,
        "'%s' is no part of a mix: write VALUE:SHARE, the share between 0 and 1, such as "
        "Philips:0.6",
        part);
    return FALSE;
  }
  g_autofree char *value = g_strndup(part, (gsize)(colon - part));
  for (guint v = 0; v < wish->values->len; v++)
    if (strcmp(wish->values->pdata[v], value) == 0) {
      demur_error_set(error, DEMUR_ERROR_USAGE, "the mix of '%s' names '%s' twice", wish->by,
                      value);
      return FALSE;
    }
  g_ptr_array_add(wish->values, g_steal_pointer(&value));
  g_array_append_val(wish->shares, share);
  return TRUE;
}

DemurMixWish *
demur_mix_wish_parse(const char *text, GError **error) {
  const char *equals = strchr(text, '=');
  if (equals == NULL || equals == text) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "'%s' is no mix: write COLUMN=VALUE:SHARE,.., such as scanner=Philips:0.6",
                    text);
    return NULL;
  }
  g_autoptr(DemurMixWish) wish = g_new0(DemurMixWish, 1);
  wish->by = g_strndup(text, (gsize)(equals - text));
  wish->values = g_ptr_array_new_with_free_func(g_free);
  wish->shares = g_array_new(FALSE, FALSE, sizeof(double));
  g_autoptr(GPtrArray) parts = split_parts(equals + 1);
  double sum = 0.0;
  for (guint p = 0; p < parts->len; p++) {
    if (!take_part(wish, parts->pdata[p], error))
      return NULL;
    sum += g_array_index(wish->shares, double, p);
  }
  if (sum > 1.0 + 1e-9) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "the shares of '%s' are %g together; they must not be more than 1", wish->by,
                    sum);
    return NULL;
  }
  return g_steal_pointer(&wish);
}

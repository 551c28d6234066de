#include "dicom/eligibility.h"
#include "base/error.h"
#include "base/file-input.h"
#include "base/limits.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

DemurEligibility *
demur_eligibility_new(void) {
  DemurEligibility *eligibility = g_new0(DemurEligibility, 1);
  const DemurRule *rules = demur_rules(&eligibility->n_rules);
  eligibility->rules = g_memdup2(rules, eligibility->n_rules * sizeof *rules);
  return eligibility;
}

void
demur_eligibility_free(DemurEligibility *eligibility) {
  if (eligibility == NULL)
    return;
  g_free(eligibility->rules);
  g_free(eligibility);
}

gboolean
demur_eligibility_set(DemurEligibility *eligibility, const char *code, DemurRuleAction action,
                      double limit, GError **error) {
  for (size_t i = 0; i < eligibility->n_rules; i++) {
    DemurRule *rule = &eligibility->rules[i];
    if (strcmp(rule->code, code) != 0)
      continue;
    if (!isnan(limit)) {
      if (isnan(rule->limit) || !isfinite(limit) || limit < 0) {
        demur_error_set(error, DEMUR_ERROR_USAGE,
                        isnan(rule->limit)
                            ? "rule \"%s\" has no limit to set"
                            : "the limit of rule \"%s\" must be a number of at least 0",
                        code);
        return FALSE;
      }
      rule->limit = limit;
    }
    rule->action = action;
    return TRUE;
  }
  g_autoptr(GString) list = g_string_new(NULL);
  for (size_t i = 0; i < eligibility->n_rules; i++)
    g_string_append_printf(list, "%s%s", i > 0 ? ", " : "", eligibility->rules[i].code);
  demur_error_set(error, DEMUR_ERROR_USAGE, "no rule \"%s\"; the rules are %s", code, list->str);
  return FALSE;
}

static const DemurRule *
find_rule(const DemurEligibility *eligibility, const char *code) {
  for (size_t i = 0; i < eligibility->n_rules; i++)
    if (strcmp(eligibility->rules[i].code, code) == 0)
      return &eligibility->rules[i];
  return NULL;
}

gboolean
demur_eligibility_parse(DemurEligibility *eligibility, const char *change, GError **error) {
  const char *equals = strchr(change, '=');
  g_autofree char *code = equals != NULL ? g_strndup(change, (gsize)(equals - change)) : NULL;
  g_auto(GStrv) words = equals != NULL ? g_strsplit(equals + 1, ":", 2) : NULL;
  if (code == NULL || words[0] == NULL) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "\"%s\" changes no rule: write rule=limit, rule=off, rule=warn, rule=refuse or "
                    "rule=warn:limit",
                    change);
    return FALSE;
  }
  g_strstrip(code);
  const DemurRule *rule = find_rule(eligibility, code);
  int action = rule != NULL ? (int)rule->action : DEMUR_RULE_REFUSE;
  double limit = NAN;
  size_t at = 0;
  for (int a = DEMUR_RULE_OFF; a <= DEMUR_RULE_REFUSE; a++)
    if (strcmp(g_strstrip(words[0]), demur_rule_action_name((DemurRuleAction)a)) == 0) {
      action = a;
      at = 1;
    }
  if (words[at] != NULL && ((at == 0 && words[1] != NULL) ||
                            !demur_number_parse(words[at], strlen(words[at]), &limit))) {
    demur_error_set(
        error, DEMUR_ERROR_USAGE,
        "rule \"%s\" can't be set to \"%s\": give off, warn, refuse, a limit, or both as "
        "warn:limit",
        code, equals + 1);
    return FALSE;
  }
  return demur_eligibility_set(eligibility, code, (DemurRuleAction)action, limit, error);
}

gboolean
demur_eligibility_read(DemurEligibility *eligibility, const char *path, GError **error) {
  g_autoptr(GError) cause = NULL;
  g_autofree char *text = demur_file_input_read(path, DEMUR_LIMIT_SETTINGS_BYTES, NULL, error);
  if (text == NULL) {
    demur_error_prefix(error, "the rules: ");
    return FALSE;
  }
  g_autofree char *name = g_path_get_basename(path);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++) {
    char *comment = strchr(lines[i], '#');
    if (comment != NULL)
      *comment = '\0';
    if (*g_strstrip(lines[i]) != '\0' && !demur_eligibility_parse(eligibility, lines[i], &cause)) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "%s, line %u: %s", name, i + 1, cause->message);
      demur_error_because(error, cause);
      return FALSE;
    }
  }
  return TRUE;
}

char **
demur_eligibility_changes(const DemurEligibility *eligibility) {
  g_autoptr(GStrvBuilder) changes = g_strv_builder_new();
  size_t n;
  const DemurRule *defaults = demur_rules(&n);
  for (size_t i = 0; i < eligibility->n_rules; i++) {
    const DemurRule *rule = &eligibility->rules[i], *normal = &defaults[i];
    const gboolean other_limit = !isnan(rule->limit) && rule->limit != normal->limit;
    if (rule->action == normal->action && !other_limit)
      continue;
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    g_autofree char *change = g_strdup_printf(
        "%s=%s%s%s", rule->code, demur_rule_action_name(rule->action), other_limit ? ":" : "",
        other_limit ? demur_number_format(rule->limit, number) : "");
    g_strv_builder_add(changes, change);
  }
  return g_strv_builder_end(changes);
}

double
demur_eligibility_limit(const DemurEligibility *eligibility, const char *code) {
  for (size_t i = 0; i < eligibility->n_rules; i++)
    if (strcmp(eligibility->rules[i].code, code) == 0)
      return eligibility->rules[i].limit;
  return NAN;
}

/* Whether another rule that the series breaks says more. */
static gboolean
says_less(const DemurEligibility *eligibility, const DemurSeries *series, const DemurRule *rule) {
  const char *more = demur_rule_less_than(rule);
  gboolean broken = FALSE;
  for (size_t i = 0; more != NULL && i < eligibility->n_rules; i++) {
    const DemurRule *other = &eligibility->rules[i];
    DemurRuleFinding finding = {0};
    if (strcmp(other->code, more) == 0)
      broken |= other->function(series, other, &finding);
    demur_rule_finding_clear(&finding);
  }
  return broken;
}

static void
judge_one(const DemurEligibility *eligibility, DemurSeries *series) {
  demur_series_clear_findings(series);
  series->findings = g_new0(DemurRuleFinding, eligibility->n_rules);
  series->eligible = TRUE;
  series->accepted = FALSE;
  g_clear_pointer(&series->preferred, g_free);
  for (size_t i = 0; i < eligibility->n_rules; i++) {
    const DemurRule *rule = &eligibility->rules[i];
    DemurRuleFinding *finding = &series->findings[series->n_findings];
    if (rule->action == DEMUR_RULE_OFF || says_less(eligibility, series, rule) ||
        !rule->function(series, rule, finding))
      continue;
    finding->code = rule->code;
    finding->action = rule->action;
    series->n_findings++;
    series->eligible &= rule->action != DEMUR_RULE_REFUSE;
  }
}

const char *
demur_preference_name(DemurPreference preference) {
  static const char *const names[DEMUR_N_PREFERENCES] = {
      [DEMUR_PREFERENCE_THINNER] = "thinner_slices",
      [DEMUR_PREFERENCE_SOFTER] = "softer_kernel",
      [DEMUR_PREFERENCE_MORE_SLICES] = "more_slices",
      [DEMUR_PREFERENCE_SERIES_NUMBER] = "lower_series_number",
      [DEMUR_PREFERENCE_SCAN_ID] = "lower_scan_id"};
  return names[preference];
}

static int
kernel_rank(DemurKernelClass sharpness) {
  switch (sharpness) {
  case DEMUR_KERNEL_SOFT:
  case DEMUR_KERNEL_STANDARD:
    return 0;
  case DEMUR_KERNEL_UNKNOWN:
    return 1;
  case DEMUR_KERNEL_SHARP:
    break;
  }
  return 2;
}

/* < 0 where a is preferred; why: the criterion that decided. */
static int
prefer(const DemurCandidate *a, const DemurCandidate *b, DemurPreference *why) {
  const double x = isnan(a->thickness_mm) ? INFINITY : a->thickness_mm;
  const double y = isnan(b->thickness_mm) ? INFINITY : b->thickness_mm;
  *why = DEMUR_PREFERENCE_THINNER;
  if (x < y)
    return -1;
  if (x > y)
    return 1;
  *why = DEMUR_PREFERENCE_SOFTER;
  if (kernel_rank(a->kernel_class) != kernel_rank(b->kernel_class))
    return kernel_rank(a->kernel_class) - kernel_rank(b->kernel_class);
  *why = DEMUR_PREFERENCE_MORE_SLICES;
  if (a->n_slices != b->n_slices)
    return a->n_slices > b->n_slices ? -1 : 1;
  *why = DEMUR_PREFERENCE_SERIES_NUMBER;
  if (a->series_number != b->series_number)
    return a->series_number < b->series_number ? -1 : 1;
  *why = DEMUR_PREFERENCE_SCAN_ID;
  return strcmp(a->scan_id, b->scan_id);
}

void
demur_eligibility_studies(const DemurCandidate *candidates, size_t n, guint *studies) {
  g_autofree DemurPerson *persons = g_new0(DemurPerson, MAX(n, 1));
  g_autofree guint *classes = g_new0(guint, MAX(n, 1));
  g_autoptr(GHashTable) numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (size_t i = 0; i < n; i++)
    persons[i] = candidates[i].person;
  demur_person_classes(persons, n, classes);
  for (size_t i = 0; i < n; i++) {
    const DemurCandidate *one = &candidates[i];
    char *key = g_strdup_printf("%u %s", classes[i],
                                one->study_uid != NULL ? one->study_uid : one->scan_id);
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, key));
    if (number == 0) {
      number = g_hash_table_size(numbers) + 1;
      g_hash_table_insert(numbers, key, GUINT_TO_POINTER(number));
    } else {
      g_free(key);
    }
    studies[i] = number - 1;
  }
}

void
demur_eligibility_choose(DemurCandidate *candidates, size_t n) {
  g_autofree guint *studies = g_new0(guint, MAX(n, 1));
  g_autofree const DemurCandidate **best = g_new0(const DemurCandidate *, MAX(n, 1));
  DemurPreference why;
  demur_eligibility_studies(candidates, n, studies);
  for (size_t i = 0; i < n; i++) {
    const DemurCandidate *one = &candidates[i];
    if (one->eligible && (best[studies[i]] == NULL || prefer(one, best[studies[i]], &why) < 0))
      best[studies[i]] = one;
  }
  for (size_t i = 0; i < n; i++) {
    DemurCandidate *one = &candidates[i];
    const DemurCandidate *chosen = best[studies[i]];
    one->accepted = one->eligible && chosen == one;
    one->preferred = NULL;
    if (!one->eligible || one->accepted)
      continue;
    prefer(chosen, one, &one->preferred_by);
    one->preferred = chosen->scan_id;
  }
}

void
demur_eligibility_judge(const DemurEligibility *eligibility, GPtrArray *series) {
  g_autofree DemurCandidate *candidates = g_new0(DemurCandidate, MAX(series->len, 1));
  for (guint i = 0; i < series->len; i++) {
    DemurSeries *one = series->pdata[i];
    judge_one(eligibility, one);
    candidates[i] = (DemurCandidate){.scan_id = one->scan_id,
                                     .study_uid = one->study_uid,
                                     .person = demur_series_person_of(one),
                                     .eligible = one->eligible,
                                     .thickness_mm = one->thickness_mm,
                                     .kernel_class = one->kernel_class,
                                     .n_slices = one->n_slices,
                                     .series_number = one->series_number};
  }
  demur_eligibility_choose(candidates, series->len);
  for (guint i = 0; i < series->len; i++) {
    DemurSeries *one = series->pdata[i];
    one->accepted = candidates[i].accepted;
    one->preferred = g_strdup(candidates[i].preferred);
    one->preferred_by = candidates[i].preferred_by;
  }
}

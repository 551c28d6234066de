#include "tasks/federate.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file-input.h"
#include "base/file-output.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/sha256.h"
#include "base/shown-text.h"
#include "store/selectors.h"
#include "tasks/federate-install.h"
#include "tasks/history.h"
#include "tasks/selection.h"

static const double usual_edges[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5};

/* ---- files ---- */

static char *
read_file(const char *path, gsize *length, GError **error) {
  return demur_file_input_read(path, DEMUR_LIMIT_REPORT_BYTES, length, error);
}

static DemurFederateRound *
read_round(const char *path, GError **error) {
  gsize length;
  g_autofree char *text = read_file(path, &length, error);
  if (text == NULL)
    return NULL;
  DemurFederateRound *round = demur_federate_round_read(text, (gssize)length, error);
  if (round == NULL)
    demur_error_prefix(error, "%s: ", path);
  return round;
}

static DemurFederateAnswer *
read_answer(const DemurFederateRound *round, const char *path, GError **error) {
  gsize length;
  g_autofree char *text = read_file(path, &length, error);
  if (text == NULL)
    return NULL;
  DemurFederateAnswer *answer = demur_federate_answer_read(round, text, (gssize)length, error);
  if (answer == NULL)
    demur_error_prefix(error, "%s: ", path);
  return answer;
}

gboolean
demur_task_federate_read(const char *round_path, const char *answer_path,
                         DemurFederateRound **round, DemurFederateAnswer **answer, GError **error) {
  g_autoptr(DemurFederateRound) read = read_round(round_path, error);
  if (read == NULL)
    return FALSE;
  if (answer_path != NULL && (*answer = read_answer(read, answer_path, error)) == NULL)
    return FALSE;
  *round = g_steal_pointer(&read);
  return TRUE;
}

/* ---- start ---- */

static gboolean
has_outer_blank(const char *name) {
  return g_ascii_isspace(name[0]) || g_ascii_isspace(name[strlen(name) - 1]);
}

static gboolean
check_sites(char *const *sites, GError **error) {
  size_t n = 0;
  for (; sites[n] != NULL; n++)
    for (size_t i = 0; i <= n; i++)
      if (*sites[n] == '\0' || !demur_is_shown_as_it_is(sites[n]) || has_outer_blank(sites[n]) ||
          (i < n && strcmp(sites[i], sites[n]) == 0)) {
        g_autofree char *shown = demur_shown_text(sites[n]);
        demur_error_set(error, DEMUR_ERROR_USAGE,
                        "site '%s' is named twice, has no name, blanks around it or control "
                        "characters in it",
                        shown);
        return FALSE;
      }
  if (n >= 2 && n <= DEMUR_FEDERATE_MOST_SITES)
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_USAGE, "a study is of 2 to %d sites, not %zu",
                  DEMUR_FEDERATE_MOST_SITES, n);
  return FALSE;
}

static int
compare_numbers(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Numbers of a text, each once, in order (owned, g_aligned_free). */
static double *
parse_cuts(const char *text, const char *what, size_t *n, GError **error) {
  g_auto(GStrv) words = g_strsplit(text, ",", -1);
  *n = g_strv_length(words);
  double *cuts = demur_new_array(double, MAX(*n, 1));
  gboolean sound = *n <= DEMUR_FEDERATE_MOST_CUTS;
  for (size_t i = 0; sound && i < *n; i++)
    sound = demur_number_parse(words[i], strlen(words[i]), &cuts[i]);
  if (sound)
    qsort(cuts, *n, sizeof *cuts, compare_numbers);
  for (size_t i = 1; sound && i < *n; i++)
    sound = cuts[i] > cuts[i - 1];
  if (sound)
    return cuts;
  g_aligned_free(cuts);
  demur_error_set(error, DEMUR_ERROR_USAGE, "%s takes up to %d numbers, each once, not '%s'", what,
                  DEMUR_FEDERATE_MOST_CUTS, text);
  return NULL;
}

/* The selector's tuned thresholds, each once, in order (owned, g_aligned_free). */
static double *
tuned_cuts(DemurTask *task, const char *selector, size_t *n, GError **error) {
  DemurWorkspace *workspace = demur_task_workspace(task, error);
  g_autoptr(GPtrArray) records =
      workspace != NULL ? demur_thresholds_list(workspace, selector, error) : NULL;
  if (records == NULL)
    return NULL;
  double *cuts = demur_new_array(double, MAX(records->len, 1));
  *n = 0;
  for (guint i = 0; i < records->len; i++)
    cuts[(*n)++] = ((const DemurThresholdRecord *)records->pdata[i])->threshold;
  qsort(cuts, *n, sizeof *cuts, compare_numbers);
  size_t kept = 0;
  for (size_t i = 0; i < *n; i++)
    if (kept == 0 || cuts[i] > cuts[kept - 1])
      cuts[kept++] = cuts[i];
  *n = kept;
  if (kept <= DEMUR_FEDERATE_MOST_CUTS)
    return cuts;
  g_aligned_free(cuts);
  demur_error_set(error, DEMUR_ERROR_USAGE,
                  "selector '%s' is tuned to %zu thresholds, a study takes %d: name them by "
                  "--thresholds",
                  selector, kept, DEMUR_FEDERATE_MOST_CUTS);
  return NULL;
}

/* An evaluation without a threshold says nothing of a selector, and what an answer told can't be asked for again by
 * other bands: whoever wants none says so. */
static gboolean
check_cuts(const DemurFederateStartParams *params, const DemurFederateRound *round,
           GError **error) {
  if (params->thresholds != NULL || round->n_thresholds > 0)
    return TRUE;
  demur_error_set(
      error, DEMUR_ERROR_STATE,
      "selector '%s' is not tuned here (an exported selector takes no threshold along): name the "
      "scores from which on is accepted by --thresholds X,.., or ask for the evaluation "
      "of everything by --thresholds none",
      params->selector);
  return FALSE;
}

static gboolean
set_cuts(DemurTask *task, const DemurFederateStartParams *params, DemurFederateRound *round,
         GError **error) {
  const gboolean none = params->thresholds != NULL && *params->thresholds == '\0';
  round->thresholds =
      none ? demur_new_array(double, 1)
      : params->thresholds != NULL
          ? parse_cuts(params->thresholds, "--thresholds", &round->n_thresholds, error)
          : tuned_cuts(task, params->selector, &round->n_thresholds, error);
  if (round->thresholds == NULL)
    return FALSE;
  for (size_t i = 0; i < round->n_thresholds / 2; i++) {
    const double low = round->thresholds[i];
    round->thresholds[i] = round->thresholds[round->n_thresholds - 1 - i];
    round->thresholds[round->n_thresholds - 1 - i] = low;
  }
  if (params->edges != NULL)
    return (round->edges = parse_cuts(params->edges, "--edges", &round->n_edges, error)) != NULL &&
           check_cuts(params, round, error);
  round->n_edges = G_N_ELEMENTS(usual_edges);
  round->edges = demur_new_array(double, round->n_edges);
  memcpy(round->edges, usual_edges, sizeof usual_edges);
  return check_cuts(params, round, error);
}

static gboolean
check_kind(const DemurFederateStartParams *params, const DemurSelector *selector, GError **error) {
  const gboolean temperature = params->study == DEMUR_FEDERATE_RECALIBRATION &&
                               params->kind == DEMUR_RECALIBRATION_TEMPERATURE;
  if (params->study == DEMUR_FEDERATE_RECALIBRATION && !temperature &&
      params->kind != DEMUR_RECALIBRATION_INTERCEPT && params->kind != DEMUR_RECALIBRATION_PLATT) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "sums make an intercept, a temperature or Platt's map, not %s",
                    demur_recalibration_name(params->kind));
    return FALSE;
  }
  if (demur_selector_corrector(selector, TRUE) != NULL || temperature)
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_UNSUPPORTED,
                  "this study needs binary risk; selector '%s' has %zu classes", params->selector,
                  demur_selector_n_classes(selector));
  return FALSE;
}

/* The corrector's columns but those that are left out (owned). */
static guint32 *
inputs_of(const DemurCorrector *corrector, const char *leave_out, size_t *n, GError **error) {
  size_t n_gone = 0;
  DEMUR_AUTO_ALIGNED double *gone = leave_out != NULL
                                        ? parse_cuts(leave_out, "--leave-out", &n_gone, error)
                                        : demur_new_array(double, 1);
  if (gone == NULL)
    return NULL;
  guint32 *inputs = g_new(guint32, MAX(corrector->n_inputs, 1));
  size_t found = 0;
  *n = 0;
  for (size_t c = 0; c < corrector->n_inputs; c++) {
    if (found < n_gone && gone[found] == (double)c)
      found++;
    else
      inputs[(*n)++] = (guint32)c;
  }
  if (found == n_gone)
    return inputs;
  g_free(inputs);
  demur_error_set(error, DEMUR_ERROR_USAGE,
                  "--leave-out takes columns of the corrector, 0 to %zu, not '%s'",
                  corrector->n_inputs - 1, leave_out);
  return NULL;
}

/* The first round of what is asked of the selector. */
static DemurFederateRound *
round_of(DemurTask *task, const DemurFederateStartParams *params, const DemurSelector *selector,
         GError **error) {
  const DemurCorrector *corrector = demur_selector_corrector(selector, TRUE);
  const gboolean recalibrates = params->study == DEMUR_FEDERATE_RECALIBRATION,
                 corrects = params->study == DEMUR_FEDERATE_CORRECTOR;
  size_t n_inputs = 0;
  g_autofree guint32 *inputs =
      corrects ? inputs_of(corrector, params->leave_out, &n_inputs, error) : NULL;
  if (corrects && inputs == NULL)
    return NULL;
  g_autoptr(DemurFederateRound) round = demur_federate_round_new(
      params->study, recalibrates ? params->kind : DEMUR_RECALIBRATION_NONE,
      demur_selector_digest(selector), demur_selector_n_classes(selector), params->sites,
      corrects ? corrector->n_inputs : 0, inputs, n_inputs);
  if (corrects) {
    round->lambda = isnan(params->lambda) ? corrector->lambda : params->lambda;
    if (corrector->n_inputs + 1 > DEMUR_FEDERATE_MOST_COEFFICIENTS || !(round->lambda >= 0.0) ||
        round->lambda > DEMUR_FEDERATE_MOST_LAMBDA) {
      demur_error_set(error, DEMUR_ERROR_USAGE,
                      "a study is of a corrector of up to %d inputs and a lambda from 0 to %g, not "
                      "of %zu inputs with lambda %g",
                      DEMUR_FEDERATE_MOST_COEFFICIENTS - 1, DEMUR_FEDERATE_MOST_LAMBDA,
                      corrector->n_inputs, round->lambda);
      return NULL;
    }
    /* Its weights say something of this selector alone: what can't be installed need not be asked for. */
    if (!demur_selector_may_federate(selector, DEMUR_FEDERATED_CORRECTOR, error))
      return NULL;
  }
  if (params->study == DEMUR_FEDERATE_EVALUATION && !set_cuts(task, params, round, error))
    return NULL;
  return g_steal_pointer(&round);
}

DemurFederateRound *
demur_task_federate_start(DemurTask *task, const DemurFederateStartParams *params, GError **error) {
  if (!check_sites(params->sites, error) ||
      !demur_file_output_check(params->output, DEMUR_FILE_REPLACE, error))
    return NULL;
  g_autoptr(DemurSelector) selector = demur_task_load_selector(task, params->selector, NULL, error);
  g_autoptr(DemurFederateRound) round = selector != NULL && check_kind(params, selector, error)
                                            ? round_of(task, params, selector, error)
                                            : NULL;
  if (round == NULL)
    return NULL;
  g_autofree char *text = demur_federate_round_write(round);
  return demur_file_write(params->output, text, -1, DEMUR_FILE_REPLACE, error)
             ? g_steal_pointer(&round)
             : NULL;
}

/* ---- answer ---- */

/* What an answer is made of, with what owns it. */
typedef struct {
  DemurSelector *selector;
  DemurCohort *cohort;
  guint32 *rows;
  gint32 *labels;
  double *risks, *seen, *inputs, *scores; /* inputs: g_aligned_free */
  const char **names, **persons;
  guint32 *patients;
  const char *split; /* borrowed */
  DemurFederateScans scans;
} Material;

static void
material_clear(Material *material) {
  demur_selector_unref(material->selector);
  demur_cohort_unref(material->cohort);
  g_free(material->rows);
  g_free(material->labels);
  g_free(material->risks);
  g_free(material->seen);
  g_aligned_free(material->inputs);
  g_free(material->scores);
  g_free(material->names);
  g_free(material->persons);
  g_free(material->patients);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Material, material_clear)

/* The split's scans that did not make the selector, with their labels and the model's risks. */
static gboolean
take_scans(DemurTask *task, const DemurFederateAnswerParams *params, Material *m, size_t *n_seen,
           GError **error) {
  const char *split = params->split != NULL ? params->split : DEMUR_SPLIT_TEST;
  m->cohort = demur_task_load_cohort_for(task, params->cohort, m->selector, error);
  if (m->cohort == NULL || !demur_selector_check_cohort(m->selector, m->cohort, error))
    return FALSE;
  m->split = split;
  size_t n_rows, n = 0;
  m->rows = demur_cohort_rows(m->cohort, split, &n_rows, error);
  if (m->rows == NULL)
    return FALSE;
  const size_t k = m->cohort->n_classes, width = k > 2 ? k : 1;
  m->labels = g_new(gint32, MAX(n_rows, 1));
  m->risks = g_new(double, MAX(n_rows, 1) * width);
  m->names = g_new(const char *, MAX(n_rows, 1));
  m->persons = g_new(const char *, MAX(n_rows, 1));
  m->patients = g_new(guint32, MAX(n_rows, 1));
  for (size_t i = 0; i < n_rows; i++) {
    const guint32 row = m->rows[i];
    if (demur_selector_has_seen(m->selector, m->cohort->patient_ids[m->cohort->patients[row]]))
      continue;
    if (m->cohort->labels[row] == DEMUR_NO_LABEL) {
      demur_error_set(error, DEMUR_ERROR_STATE,
                      "a scan of split '%s' has no label, or was left before the horizon: what "
                      "such scans weigh is no sum; put them into a split of their own",
                      split);
      return FALSE;
    }
    m->rows[n] = row;
    m->labels[n] = m->cohort->labels[row];
    memcpy(m->risks + n * width,
           k > 2 ? m->cohort->probabilities + row * k : m->cohort->risks + row,
           width * sizeof(double));
    m->patients[n] = m->cohort->patients[row];
    m->persons[n] = m->cohort->patient_ids[m->cohort->patients[row]];
    m->names[n++] = m->cohort->scan_ids[row];
  }
  *n_seen = n_rows - n;
  m->scans = (DemurFederateScans){.n = n,
                                  .n_classes = k,
                                  .risks = m->risks,
                                  .labels = m->labels,
                                  .patients = m->patients,
                                  .n_patients = m->cohort->n_patients,
                                  .simulated = m->cohort->simulated};
  return TRUE;
}

/* Risks as the selector sees them, and its scores. */
static gboolean
take_seen(DemurTask *task, Material *m, GError **error) {
  const size_t n = m->scans.n;
  g_autoptr(DemurCohort) view = demur_selector_view_rows(m->selector, m->cohort, m->rows, n,
                                                         task->parallel, &task->progress, error);
  DEMUR_AUTO_ALIGNED double *meta =
      view != NULL ? demur_selector_meta_features(m->selector, view, FALSE, m->rows, n,
                                                  task->parallel, &task->progress, error)
                   : NULL;
  if (meta == NULL)
    return FALSE;
  m->seen = g_new(double, MAX(n, 1));
  m->scores = g_new(double, MAX(n, 1));
  for (size_t i = 0; i < n; i++)
    m->seen[i] = view->risks[m->rows[i]];
  demur_selector_scores(m->selector, 0, meta, n, m->scores);
  m->scans.seen = m->seen;
  m->scans.scores = m->scores;
  return TRUE;
}

static gboolean
take_material(DemurTask *task, const DemurFederateRound *round, Material *m, GError **error) {
  if (m->scans.n == 0)
    return TRUE; /* withheld, whatever is asked */
  if (round->study == DEMUR_FEDERATE_RECALIBRATION)
    return TRUE;
  if (round->study != DEMUR_FEDERATE_CORRECTOR)
    return take_seen(task, m, error);
  m->inputs =
      demur_selector_corrector_rows(m->selector, m->cohort, m->rows, m->scans.n, &m->scans.width,
                                    task->parallel, &task->progress, error);
  m->scans.inputs = m->inputs;
  return m->inputs != NULL;
}

static DemurFederateLedger *
open_ledger(const char *path, GError **error) {
  if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
    guint8 salt[DEMUR_SHA256_BYTES];
    char hex[DEMUR_SHA256_HEX];
    if (getrandom(salt, sizeof salt, 0) != (gssize)sizeof salt) {
      demur_error_set(error, DEMUR_ERROR_OUTPUT, "%s: there are no random bytes for it: %s", path,
                      g_strerror(errno));
      return NULL;
    }
    demur_sha256_hex(salt, hex);
    return demur_federate_ledger_new(hex);
  }
  gsize length;
  g_autofree char *text = read_file(path, &length, error);
  if (text == NULL)
    return NULL;
  DemurFederateLedger *ledger = demur_federate_ledger_read(text, (gssize)length, error);
  if (ledger == NULL)
    demur_error_prefix(error, "%s: ", path);
  return ledger;
}

/* Where links lead, of what is not there its folder's end (owned): one file has one list and one lock. */
static char *
resolve(const char *path) {
  char *whole = realpath(path, NULL);
  if (whole != NULL)
    return whole;
  g_autofree char *folder = g_path_get_dirname(path), *name = g_path_get_basename(path);
  char *there = realpath(folder, NULL);
  char *joined = there != NULL ? g_build_filename(there, name, NULL) : g_strdup(path);
  free(there);
  return joined;
}

/* The ledger's path (owned). */
static char *
ledger_path(DemurTask *task, const char *named, GError **error) {
  if (named != NULL)
    return resolve(named);
  if (!demur_workspace_is_server(task->workspace_path)) {
    g_autofree char *workspace = resolve(task->workspace_path);
    g_autofree char *beside = g_strconcat(workspace, ".federate", NULL);
    return resolve(beside);
  }
  demur_error_set(error, DEMUR_ERROR_USAGE,
                  "the workspace lies on a server, beside which there is no file of what was told: "
                  "name one, always the same, by --ledger FILE");
  return NULL;
}

/* Others who answer by a ledger in that folder wait until the descriptor is closed. A folder's lock, for
 * the ledger itself is another file behind each writing. -1 with error. */
static int
lock_folder(const char *ledger, GError **error) {
  g_autofree char *folder = g_path_get_dirname(ledger);
  const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int result = -1;
  while (fd >= 0 && (result = flock(fd, LOCK_EX)) != 0 && errno == EINTR)
    ;
  if (result == 0)
    return fd;
  demur_error_set(error, DEMUR_ERROR_OUTPUT,
                  "%s: the folder can't be locked (%s), and two answers at once would not see each "
                  "other; name a ledger in another by --ledger FILE",
                  folder, g_strerror(errno));
  if (fd >= 0)
    close(fd);
  return -1;
}

/* The ledger first, and the log: what left without a note could be told again in another way. */
static gboolean
write_answer(DemurTask *task, const DemurFederateAnswered *answered, const Material *m,
             const DemurFederateLedger *ledger, const char *output, GError **error) {
  g_autofree char *kept = demur_federate_ledger_write(ledger);
  g_autofree char *text = demur_federate_answer_write(answered->round, answered->answer);
  g_autofree char *digest = demur_federate_answer_digest(answered->round, answered->answer);
  const DemurHistoryAnswer told = {.round = answered->round->digest,
                                   .answer = digest,
                                   .site = answered->answer->site,
                                   .study = demur_federate_study_name(answered->round->study),
                                   .selector = answered->round->selector,
                                   .cohort = m->cohort->name,
                                   .split = m->split,
                                   .withheld = answered->answer->withheld};
  return (answered->known || demur_file_write(answered->ledger, kept, -1,
                                              DEMUR_FILE_REPLACE | DEMUR_FILE_LEDGER, error)) &&
         demur_history_add_answer(task, output, &told, error) &&
         demur_file_write(output, text, -1, DEMUR_FILE_REPLACE, error);
}

/* What a ledger has to hold, and its path. */
typedef struct {
  const DemurFederateLedger *ledger;
  const char *path;
} Needed;

/* As DemurHistoryAnswerFunc: what the log says left stands in the ledger. */
static gboolean
is_noted(const DemurHistoryAnswer *answer, gpointer data, GError **error) {
  const Needed *needed = data;
  if (answer->withheld || demur_federate_ledger_has(needed->ledger, answer->round, answer->answer))
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_STATE,
                  "the workspace's log holds an answer (%.12s.., as site '%s') that %s knows "
                  "nothing of: a workspace that is moved, copied or restored leaves its ledger "
                  "behind; put that in its place, or name it by --ledger FILE",
                  answer->answer, answer->site, needed->path);
  return FALSE;
}

/* From the ledger's reading to its writing in one; without an output nothing is written or locked. */
static gboolean
note_answer(DemurTask *task, DemurFederateAnswered *answered, const Material *m, const char *output,
            GError **error) {
  const int lock = output != NULL ? lock_folder(answered->ledger, error) : -1;
  if (output != NULL && lock < 0)
    return FALSE;
  g_autoptr(DemurFederateLedger) ledger = open_ledger(answered->ledger, error);
  g_autofree char *now = demur_task_now(task);
  Needed needed = {ledger, answered->ledger};
  const gboolean sound =
      ledger != NULL && demur_history_each_answer(task, is_noted, &needed, error) &&
      demur_federate_ledger_note(ledger, answered->round, answered->answer, &m->scans, m->names,
                                 m->persons, now, &answered->known, error) &&
      (output == NULL || write_answer(task, answered, m, ledger, output, error));
  if (lock >= 0)
    close(lock);
  return sound;
}

DemurFederateAnswered *
demur_task_federate_answer(DemurTask *task, const DemurFederateAnswerParams *params,
                           GError **error) {
  g_autoptr(DemurFederateAnswered) answered = g_new0(DemurFederateAnswered, 1);
  answered->ledger = ledger_path(task, params->ledger, error);
  if (answered->ledger == NULL)
    return NULL;
  const char *const read[] = {params->round, answered->ledger, NULL};
  if (params->output != NULL &&
      (!demur_file_output_check(params->output, DEMUR_FILE_REPLACE, error) ||
       !demur_file_output_check_apart(params->output, read, error)))
    return NULL;
  answered->round = read_round(params->round, error);
  if (answered->round == NULL)
    return NULL;
  if (!g_strv_contains((const char *const *)answered->round->sites, params->site)) {
    demur_error_set(error, DEMUR_ERROR_USAGE,
                    "%s: '%s' is not asked; `demur federate show` names "
                    "those who are",
                    params->round, params->site);
    return NULL;
  }
  g_auto(Material) m = {0};
  m.selector =
      demur_task_federate_selector(task, answered->round->selector, &answered->selector, error);
  if (m.selector == NULL || !take_scans(task, params, &m, &answered->n_seen, error) ||
      !take_material(task, answered->round, &m, error))
    return NULL;
  answered->answer = demur_federate_answer(answered->round, params->site, &m.scans, error);
  return answered->answer != NULL && note_answer(task, answered, &m, params->output, error)
             ? g_steal_pointer(&answered)
             : NULL;
}

void
demur_federate_answered_free(DemurFederateAnswered *answered) {
  if (answered == NULL)
    return;
  demur_federate_round_free(answered->round);
  demur_federate_answer_free(answered->answer);
  g_free(answered->selector);
  g_free(answered->ledger);
  g_free(answered);
}

/* ---- merge ---- */

static void
free_answer(gpointer answer) {
  demur_federate_answer_free(answer);
}

DemurFederateMerged *
demur_task_federate_merge(const DemurFederateMergeParams *params, GError **error) {
  const char *const round_too[] = {params->round, NULL};
  if (!demur_file_output_check(params->output, DEMUR_FILE_REPLACE, error) ||
      !demur_file_output_check_apart(params->output, round_too, error) ||
      !demur_file_output_check_apart(params->output, (const char *const *)params->answers, error))
    return NULL;
  g_autoptr(DemurFederateRound) round = read_round(params->round, error);
  if (round == NULL)
    return NULL;
  g_autoptr(GPtrArray) answers = g_ptr_array_new_with_free_func(free_answer);
  for (char *const *path = params->answers; *path != NULL; path++) {
    DemurFederateAnswer *answer = read_answer(round, *path, error);
    if (answer == NULL)
      return NULL;
    g_ptr_array_add(answers, answer);
  }
  g_autoptr(DemurFederateMerged) merged = g_new0(DemurFederateMerged, 1);
  if (!demur_federate_merge(round, (DemurFederateAnswer *const *)answers->pdata, params->answers,
                            answers->len, params->without, &merged->next, &merged->result, error))
    return NULL;
  g_autofree char *text = merged->next != NULL ? demur_federate_round_write(merged->next)
                                               : demur_federate_result_write(merged->result, NULL);
  return demur_file_write(params->output, text, -1, DEMUR_FILE_REPLACE, error)
             ? g_steal_pointer(&merged)
             : NULL;
}

void
demur_federate_merged_free(DemurFederateMerged *merged) {
  if (merged == NULL)
    return;
  demur_federate_round_free(merged->next);
  demur_federate_result_free(merged->result);
  g_free(merged);
}

/* A workspace with one invented DICOM series, its score and a selector that needs the risk alone:
 * what the tests of verdicts' lives share. */
#pragma once

#include "commands.h"
#include "dicom/dicom-fixture.h"

#define UID "1.2.3.4"
#define N 24

/* Slices from to to - 1; lift: of every pixel. */
static inline void
write_slices(const Sandbox *sandbox, const char *name, int from, int to, const char *patient,
             const char *person, guint16 lift) {
  g_autofree char *folder = sandbox_path(sandbox, name);
  g_mkdir(folder, 0700);
  for (int k = from; k < to; k++) {
    FixtureImage image = fixture_image(k + 1, 2.5 * k);
    g_autofree char *file = g_strdup_printf("%03d.dcm", k);
    image.patient_id = patient;
    image.patient_name = person;
    image.value = (guint16)(image.value + lift);
    fixture_save(&image, folder, file);
  }
}

static inline void
import(const Sandbox *sandbox, const char *name) {
  g_autofree char *folder = sandbox_path(sandbox, name);
  g_autoptr(Run) run = run_json(sandbox, 0, "dicom", "import", folder, NULL);
}

/* A cohort of risks alone, invented: nobody's scores need an embedding then. */
static inline void
import_cohort(const Sandbox *sandbox) {
  static const char *const splits[] = {"selector_train", "selector_train", "tune", "test"};
  g_autoptr(GRand) random = g_rand_new_with_seed(11);
  g_autoptr(GString) table = g_string_new("patient_id,site,split,label,risk\n");
  for (int i = 0; i < 1200; i++) {
    const double risk = 0.02 + 0.5 * g_rand_double(random);
    g_string_append_printf(table, "p%d,s%d,%s,%d,%.4f\n", i, i % 8, splits[i / 8 % 4],
                           g_rand_double(random) < risk ? 1 : 0, risk);
  }
  g_autofree char *path = sandbox_write(sandbox, "sim.csv", table->str, -1);
  g_autoptr(Run) run = run_json(sandbox, 0, "cohort", "import", "sim", path, "--model", "m", NULL);
}

/* A workspace with selector s, tuned to accept everything. */
static inline Sandbox *
with_selector(void) {
  Sandbox *sandbox = sandbox_new();
  import_cohort(sandbox);
  g_autoptr(Run) train = train_small(sandbox, "s", "sim", NULL);
  assert_status(train, 0);
  g_autoptr(Run) tune =
      run_json(sandbox, 0, "tune", "s", "--cohort", "sim", "--coverage", "1", NULL);
  return sandbox;
}

static inline void
score(const Sandbox *sandbox, const char *scan_id, const char *risk, const char *more) {
  g_autofree char *table = g_strdup_printf("scan_id,risk\n%s,%s\n", scan_id, risk);
  g_autofree char *path = sandbox_write(sandbox, "scores.csv", table, -1);
  g_autoptr(Run) run = run_json(sandbox, 0, "scores", "import", path, "--model", "m", more, NULL);
}

static inline void
assess(const Sandbox *sandbox) {
  g_autoptr(Run) run = run_json(sandbox, 0, "assess", "s", "--all", NULL);
}

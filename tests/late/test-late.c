/* Rooms that are loaded at the first call into them (app/late/late.h): arguments and results of every kind
 * come through that call as through the next, from many threads at once; the room finds the program's own
 * functions and data; and a module that is not there, or of another build, is said. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include <glib.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "app/late/late.h"
#include "late/absent.h"
#include "late/newer.h"
#include "late/older.h"
#include "late/room.h"

const double demur_trial_factor = 2.0;

double
demur_trial_scaled(double value) {
  return 10.0 * value;
}

static int
name_is_loaded(struct dl_phdr_info *info, size_t size, void *name) {
  return strstr(info->dlpi_name, name) != NULL;
}

static gboolean
is_loaded(const char *name) {
  return dl_iterate_phdr(name_is_loaded, (void *)name) != 0;
}

static gpointer
call(gpointer gate) {
  while (g_atomic_int_get((gint *)gate) == 0)
    ;
  const int whole[7] = {1, 2, 3, 4, 5, 6, 7};
  const double parts[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const DemurTrialSums sums = demur_trial_sum(whole, 1, 2, 3, 4, 5, parts);
  g_assert_cmpfloat(sums.a, ==, 28.0);
  g_assert_cmpfloat(sums.b, ==, 55.0);
  g_assert_cmpfloat(sums.c, ==, 450.0);
  g_assert_cmpfloat(demur_trial_mix(1, 2, 3, 4, 5, 6, 7, 8, 9), ==, 285.0);
  g_assert_cmpfloat(demur_trial_variadic(9, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0), ==, 90.0);
  return NULL;
}

static void
the_first_call_is_as_the_next_from_any_thread(void) {
  g_assert_false(is_loaded("demur-trial-late"));
  gint gate = 0;
  GThread *threads[8];
  for (size_t t = 0; t < G_N_ELEMENTS(threads); t++)
    threads[t] = g_thread_new(NULL, call, &gate);
  g_atomic_int_set(&gate, 1);
  for (size_t t = 0; t < G_N_ELEMENTS(threads); t++)
    g_thread_join(threads[t]);
  g_assert_true(is_loaded("demur-trial-late"));
  call(&gate);
}

static void
a_module_that_is_gone_is_said(void) {
  if (g_test_subprocess()) {
    exit(demur_absent_answer());
  }
  g_test_trap_subprocess(NULL, 0, 0);
  g_test_trap_assert_failed();
  g_test_trap_assert_stderr(
      "*demur-absent-late.so, a part of the program, can't be loaded*install it again*");
}

/* Rooms are loaded in the order in which the program has them: behind the trial's comes the one that is not there. */
static void
all_are_loaded_or_the_program_ends(void) {
  if (g_test_subprocess()) {
    g_assert_false(is_loaded("demur-trial-late"));
    demur_late_load_all();
    exit(EXIT_SUCCESS);
  }
  g_test_trap_subprocess(NULL, 0, 0);
  g_test_trap_assert_failed();
  g_test_trap_assert_stderr("*demur-absent-late.so, a part of the program, can't be loaded*");
  g_test_trap_assert_stderr_unmatched("*demur-trial-late*");
}

static void
check_other_is_refused(const char *file) {
  g_test_trap_subprocess(NULL, 0, 0);
  g_test_trap_assert_failed();
  g_autofree char *said = g_strdup_printf("*%s, a part of the program, *another build*", file);
  g_test_trap_assert_stderr(said);
}

static void
a_module_that_says_another_build_is_refused(void) {
  DemurNewerAnswer answer = {0};
  if (g_test_subprocess()) {
    demur_newer_answer(&answer);
    exit(EXIT_SUCCESS);
  }
  check_other_is_refused("demur-newer-late.so");
}

static void
a_module_that_says_no_build_is_refused(void) {
  DemurOlderAnswer answer = {0};
  if (g_test_subprocess()) {
    demur_older_answer(&answer);
    exit(EXIT_SUCCESS);
  }
  check_other_is_refused("demur-older-late.so");
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/late/threads", the_first_call_is_as_the_next_from_any_thread);
  g_test_add_func("/late/absent", a_module_that_is_gone_is_said);
  g_test_add_func("/late/all", all_are_loaded_or_the_program_ends);
  g_test_add_func("/late/newer", a_module_that_says_another_build_is_refused);
  g_test_add_func("/late/older", a_module_that_says_no_build_is_refused);
  return g_test_run();
}

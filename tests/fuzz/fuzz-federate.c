/* Rounds, answers, results and a site's list of what it told: refused, or what is written of them is the same text.
 * An answer is read against a round of the kind that it may be of. */
#include <stdint.h>

#include "evaluation/federate-answer.h"
#include "evaluation/federate-ledger.h"
#include "evaluation/federate-result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static DemurFederateRound *
own_round(DemurFederateStudy study) {
  char *const sites[] = {(char[]){"a"}, (char[]){"b"}, NULL};
  const gboolean recalibrates = study == DEMUR_FEDERATE_RECALIBRATION;
  DemurFederateRound *round = demur_federate_round_new(
      study, recalibrates ? DEMUR_RECALIBRATION_PLATT : DEMUR_RECALIBRATION_NONE, "s", 2, sites, 0,
      NULL, 0);
  g_free(demur_federate_round_write(round));
  return round;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autofree char *text = g_strndup((const char *)data, size);
  g_autoptr(GError) error = NULL;
  g_autoptr(DemurFederateRound) round = demur_federate_round_read(text, -1, &error);
  g_assert_true((round == NULL) == (error != NULL));
  g_clear_error(&error);
  for (int study = 0; study < DEMUR_N_FEDERATE_STUDIES; study++) {
    if (study == DEMUR_FEDERATE_CORRECTOR)
      continue;
    g_autoptr(DemurFederateRound) asked = own_round((DemurFederateStudy)study);
    g_autoptr(DemurFederateAnswer) answer = demur_federate_answer_read(asked, text, -1, &error);
    g_assert_true((answer == NULL) == (error != NULL));
    g_clear_error(&error);
  }
  g_autoptr(DemurFederateLedger) ledger = demur_federate_ledger_read(text, -1, &error);
  g_assert_true((ledger == NULL) == (error != NULL));
  g_clear_error(&error);
  g_autofree char *digest = NULL;
  g_autoptr(DemurFederateResult) result = demur_federate_result_read(text, -1, &digest, &error);
  g_assert_true((result == NULL) == (error != NULL));
  return 0;
}

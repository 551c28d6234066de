#include "cohort/code-table.h"

#define FIRST_SLOTS 256

void
demur_code_table_init(DemurCodeTable *table) {
  *table = (DemurCodeTable){g_new0(guint64, FIRST_SLOTS), FIRST_SLOTS, 0};
}

void
demur_code_table_clear(DemurCodeTable *table) {
  g_clear_pointer(&table->slots, g_free);
  table->n_slots = table->n_used = 0;
}

static void
grow(DemurCodeTable *table) {
  const size_t n = table->n_slots * 2;
  guint64 *slots = g_new0(guint64, n);
  for (size_t i = 0; i < table->n_slots; i++) {
    if (table->slots[i] == 0)
      continue;
    size_t at = (table->slots[i] >> 32) & (n - 1);
    while (slots[at] != 0)
      at = (at + 1) & (n - 1);
    slots[at] = table->slots[i];
  }
  g_free(table->slots);
  table->slots = slots;
  table->n_slots = n;
}

void
demur_code_table_insert(DemurCodeTable *table, size_t at, guint32 hash, guint32 code) {
  table->slots[at] = (guint64)hash << 32 | (guint64)(code + 1);
  if (++table->n_used * 3 > table->n_slots * 2)
    grow(table);
}

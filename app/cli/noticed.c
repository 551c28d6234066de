#include "app/cli/noticed.h"

#include "words/noticed.h"

void
demur_noticed_write(DemurJson *json, const GPtrArray *warnings) {
  const guint n = warnings != NULL ? warnings->len : 0;
  demur_json_begin_array(json, "warnings");
  for (guint i = 0; i < n; i++) {
    g_autofree char *words = demur_words_noticed(warnings->pdata[i], TRUE, NULL);
    demur_json_string(json, NULL, words);
  }
  demur_json_end_array(json);
  demur_json_begin_array(json, "noticed");
  for (guint i = 0; i < n; i++) {
    const DemurTableWarning *warning = warnings->pdata[i];
    demur_json_begin_object(json, NULL);
    demur_json_string(json, "kind", demur_table_warning_name(warning->kind));
    demur_json_string(json, "column", warning->column);
    demur_json_string(json, "first", warning->first);
    demur_json_string(json, "second", warning->second);
    demur_json_int(json, "n", (gint64)warning->n);
    demur_json_int(json, "n_all", (gint64)warning->n_all);
    demur_json_end_object(json);
  }
  demur_json_end_array(json);
}

void
demur_noticed_print(const GPtrArray *warnings) {
  for (guint i = 0; warnings != NULL && i < warnings->len; i++) {
    g_autofree char *words = demur_words_noticed(warnings->pdata[i], TRUE, NULL);
    g_print("  note: %s\n", words);
  }
}

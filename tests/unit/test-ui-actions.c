/* The table of actions and keys: documents say what it says, no key does two things on one page,
 * and every preset's key tells the preset's own numbers. */
#include "ui/layout-stops.h"
#include "ui/page.h"
#include "ui/window-actions.h"

#include <string.h>

#include "support/support.h"
#include "tasks/ct-presets.h"
#include "ui/ct-view.h"

/* What stands between the marks of a document (owned). */
static char *
between(const char *file, const char *begin, const char *end) {
  g_autofree char *path = g_test_build_filename(G_TEST_DIST, "docs", file, NULL);
  g_autofree char *text = NULL;
  g_autoptr(GError) error = NULL;
  g_file_get_contents(path, &text, NULL, &error);
  g_assert_no_error(error);
  const char *from = strstr(text, begin);
  g_assert_nonnull(from);
  from += strlen(begin);
  const char *to = strstr(from, end);
  g_assert_nonnull(to);
  return g_strndup(from, (size_t)(to - from));
}

/* The document's part is the table's text; the first line that is not is told. */
static void
assert_holds(const char *document, const char *held, const char *wanted) {
  g_auto(GStrv) is = g_strsplit(held, "\n", -1);
  g_auto(GStrv) should = g_strsplit(wanted, "\n", -1);
  for (size_t i = 0; is[i] != NULL || should[i] != NULL; i++) {
    if (g_strcmp0(is[i], should[i]) != 0)
      g_error("docs/%s, keys, line %zu: '%s'; ui/window-actions.c says '%s'", document, i + 1,
              is[i] != NULL ? is[i] : "", should[i] != NULL ? should[i] : "");
    if (is[i] == NULL || should[i] == NULL)
      break;
  }
}

static void
test_the_documents_hold_the_keys(void) {
  g_autofree char *markdown = demur_window_actions_markdown();
  g_autofree char *page = between("workstation.md", "<!-- keys -->\n", "<!-- end of keys -->");
  assert_holds("workstation.md", page, markdown);
  g_autofree char *mdoc = demur_window_actions_mdoc();
  g_autofree char *manual = between("man/demur-workstation.1", ".Sh KEYS\n", ".Sh ENVIRONMENT");
  assert_holds("man/demur-workstation.1", manual, mdoc);
}

/* All that is written in a folder's C files, but for the table itself (owned). */
static char *
sources_of(const char *folder) {
  g_autofree char *path = g_test_build_filename(G_TEST_DIST, folder, NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(GDir) dir = g_dir_open(path, 0, &error);
  g_assert_no_error(error);
  GString *all = g_string_new(NULL);
  for (const char *name; (name = g_dir_read_name(dir)) != NULL;) {
    g_autofree char *file = g_build_filename(path, name, NULL);
    g_autofree char *text = NULL;
    if (g_str_has_suffix(name, ".c") && strcmp(name, "window-actions.c") != 0 &&
        g_file_get_contents(file, &text, NULL, NULL))
      g_string_append(all, text);
  }
  return g_string_free(all, FALSE);
}

/* Whether the target is one that the action knows. */
static gboolean
takes(const char *name, GVariant *target) {
  DemurPage page;
  DemurCtPlane plane;
  DemurTool tool;
  const char *text = target != NULL && g_variant_is_of_type(target, G_VARIANT_TYPE_STRING)
                         ? g_variant_get_string(target, NULL)
                         : NULL;
  return strcmp(name, "win.page") == 0      ? demur_page_from_name(text, &page)
         : strcmp(name, "win.plane") == 0   ? demur_ct_plane_from_name(text, &plane)
         : strcmp(name, "win.measure") == 0 ? demur_tool_from_name(text, &tool)
                                            : TRUE;
}

/* A row whose action nobody adds would be a key that does nothing. */
static void
test_every_action_is_added_somewhere(void) {
  g_autofree char *window = sources_of("ui");
  g_autofree char *program = sources_of("app/workstation");
  size_t n;
  const DemurWindowAction *actions = demur_window_actions(&n);
  for (size_t i = 0; i < n; i++) {
    if (actions[i].action == NULL)
      continue;
    g_autofree char *name = NULL;
    g_autoptr(GVariant) target = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(g_action_parse_detailed_name(actions[i].action, &name, &target, &error));
    g_assert_true(takes(name, target));
    g_autofree char *quoted = g_strdup_printf("\"%s\"", strchr(name, '.') + 1);
    if (strstr(g_str_has_prefix(name, "app.") ? program : window, quoted) == NULL)
      g_error("no GActionEntry adds %s of ui/window-actions.c", name);
  }
}

static void
test_a_key_does_one_thing(void) {
  size_t n;
  const DemurWindowAction *actions = demur_window_actions(&n);
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (size_t i = 0; i < n; i++) {
    g_assert_true(actions[i].keys != NULL || actions[i].menu != NULL);
    g_auto(GStrv) keys = g_strsplit(actions[i].keys != NULL ? actions[i].keys : "", " ", -1);
    for (char **key = keys; *key != NULL; key++) {
      guint value;
      GdkModifierType modifiers;
      g_assert_true(gtk_accelerator_parse(*key, &value, &modifiers));
      /* A letter acts on a page; a key with Control everywhere. */
      g_assert_true((modifiers != 0) != (actions[i].page != DEMUR_PAGE_ANY) ||
                    actions[i].action == NULL || g_str_has_prefix(*key, "F"));
      g_assert_true(g_hash_table_add(seen, g_strdup_printf("%s on %d", *key, actions[i].page)));
    }
    if (actions[i].action == NULL)
      continue;
    g_autofree char *name = NULL;
    g_autoptr(GVariant) target = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(g_action_parse_detailed_name(actions[i].action, &name, &target, &error));
  }
}

static void
test_presets_tell_their_numbers(void) {
  size_t n;
  const DemurWindowAction *actions = demur_window_actions(&n);
  for (int p = 0; p < DEMUR_N_CT_PRESETS; p++) {
    const DemurCtPreset *preset = &demur_ct_presets[p];
    g_autofree char *action = g_strdup_printf("win.preset(%d)", p + 1);
    g_autofree char *whole = g_strdup_printf("%s %.0f / %s%.0f", preset->title, preset->width,
                                             preset->level < 0 ? "−" : "", ABS(preset->level));
    g_assert_cmpstr(preset->whole, ==, whole);
    gboolean found = FALSE;
    for (size_t i = 0; i < n; i++)
      if (g_strcmp0(actions[i].action, action) == 0) {
        found = TRUE;
        g_assert_cmpstr(actions[i].title, ==, whole);
      }
    g_assert_true(found);
  }
}

/* Right value: the type itself. The name is a page's in the stack and in actions, the stop what --screenshot
 * and --check-layout reach it by. */
static void
test_every_page_has_a_name_and_a_stop(void) {
  for (int page = 0; page < DEMUR_N_PAGES; page++) {
    const char *name = demur_page_name((DemurPage)page);
    if (name == NULL || !demur_layout_is_stop(name) || demur_layout_is_dialog(name)) {
      g_test_message("page %d (%s): no name in ui/page.c", page,
                     name != NULL ? name : "without a name");
      g_test_fail();
    }
  }
}

/* Right value: the names themselves, each between the marks of the guide's paragraph, in that order. */
static void
test_the_guide_names_every_stop(void) {
  g_autofree char *held = between("workstation.md", "<!-- stops -->\n", "<!-- end of stops -->");
  g_autoptr(GString) wanted = g_string_new(NULL);
  for (const char *const *name = demur_layout_stops(); *name != NULL; name++)
    g_string_append_printf(wanted, "%s`%s`", wanted->len > 0 ? ", " : "", *name);
  g_autofree char *line = g_strdelimit(g_strdup(held), "\n", ' ');
  if (strcmp(g_strstrip(line), wanted->str) != 0)
    g_error(
        "docs/workstation.md, between <!-- stops -->: '%s'; ui/page.c and ui/layout-stops.c have '%s'",
        line, wanted->str);
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/actions/documents", test_the_documents_hold_the_keys);
  g_test_add_func("/ui/actions/one-thing", test_a_key_does_one_thing);
  g_test_add_func("/ui/actions/added", test_every_action_is_added_somewhere);
  g_test_add_func("/ui/actions/presets", test_presets_tell_their_numbers);
  g_test_add_func("/ui/actions/every-page-has-a-name-and-a-stop",
                  test_every_page_has_a_name_and_a_stop);
  g_test_add_func("/ui/actions/the-guide-names-every-stop", test_the_guide_names_every_stop);
  return g_test_run();
}

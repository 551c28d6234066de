/* Where lines of what is shown may not end. Right values: the bytes by hand. */
#include "ui/shown.h"

static void
test_breaks(void) {
  static const struct {
    const char *text;
    guint n, begin, end; /* of the first */
  } cases[] = {{"nothing here. Next 5 of 7", 0, 0, 0}, {"up to .016 of it", 1, 6, 10},
               {"98 % of the scans", 1, 1, 4},         {"spacing 2,5 mm", 1, 10, 13},
               {"a % of none, and mm", 0, 0, 0},       {"from 5 % to 7 %", 2, 5, 8}};
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(PangoAttrList) list = demur_shown_breaks(cases[i].text);
    GSList *all = list != NULL ? pango_attr_list_get_attributes(list) : NULL;
    g_test_message("%s", cases[i].text);
    g_assert_cmpuint(g_slist_length(all), ==, cases[i].n);
    if (all != NULL) {
      g_assert_cmpuint(((PangoAttribute *)all->data)->start_index, ==, cases[i].begin);
      g_assert_cmpuint(((PangoAttribute *)all->data)->end_index, ==, cases[i].end);
    }
    g_slist_free_full(all, (GDestroyNotify)pango_attribute_destroy);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/shown/breaks", test_breaks);
  return g_test_run();
}

/* Under LeakSanitizer: fontconfig, Pango and Cairo keep their caches until the process ends. Only
 * allocations made inside fontconfig or for Pango's default font map are left out. Include once in
 * a test that draws text. */
#pragma once

const char *__lsan_default_suppressions(void);

const char *
__lsan_default_suppressions(void) {
  return "leak:libfontconfig\nleak:pango_fc_font_map\nleak:pango_cairo_font_map_get_default\n";
}

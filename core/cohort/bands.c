#include "cohort/bands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

#define WANTED 5.0 /* bands */
#define TAIL 0.05  /* of the scans on either side, which the width is not chosen from */
#define MOST_BANDS 12

void
demur_bands_free(DemurBands *bands) {
  if (bands == NULL)
    return;
  g_strfreev(bands->names);
  g_free(bands->of_value);
  g_free(bands);
}

static int
compare_doubles(gconstpointer a, gconstpointer b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The numbers of the attribute's values (owned), NaN for ""; NULL where one is no number, or they
 * are few. */
static double *
read_numbers(const DemurAttribute *attribute) {
  g_autofree double *numbers = g_new(double, attribute->n_values + 1);
  size_t n = 0;
  for (size_t v = 0; v < attribute->n_values; v++) {
    const char *text = attribute->values[v];
    numbers[v] = NAN;
    if (*text == '\0')
      continue;
    if (!demur_number_parse(text, strlen(text), &numbers[v]) || !isfinite(numbers[v]))
      return NULL;
    n++;
  }
  return n > DEMUR_BANDS_FEW ? g_steal_pointer(&numbers) : NULL;
}

/* The smallest of 1, 2 and 5 times a power of ten that is not below width. */
static double
round_up(double width) {
  const double power = pow(10, floor(log10(width))), share = width / power;
  return power * (share <= 1 + 1e-9 ? 1 : share <= 2 + 1e-9 ? 2 : share <= 5 + 1e-9 ? 5 : 10);
}

static char *
edge_text(double edge) {
  return g_strdup_printf("%.10g", fabs(edge) < 1e-12 ? 0.0 : edge);
}

DemurBands *
demur_bands_new(const DemurCohort *cohort, size_t attribute_index, const guint32 *rows,
                size_t n_rows) {
  const DemurAttribute *attribute = &cohort->attributes[attribute_index];
  g_autofree double *numbers = read_numbers(attribute);
  if (numbers == NULL)
    return NULL;
  g_autofree double *sorted = g_new(double, n_rows + 1);
  size_t n = 0;
  for (size_t i = 0; i < n_rows; i++)
    if (isfinite(numbers[attribute->codes[rows[i]]]))
      sorted[n++] = numbers[attribute->codes[rows[i]]];
  qsort(sorted, n, sizeof *sorted, compare_doubles);
  const double low = n > 0 ? sorted[(size_t)(TAIL * (double)(n - 1))] : 0,
               high = n > 0 ? sorted[(size_t)((1 - TAIL) * (double)(n - 1))] : 0;
  if (!(high > low))
    return NULL;
  const double width = round_up((high - low) / WANTED), first = (floor(low / width) + 1) * width;
  const size_t n_edges = (size_t)CLAMP(ceil((high - first) / width), 1.0, (double)MOST_BANDS);
  DemurBands *bands = g_new0(DemurBands, 1);
  bands->names = g_new0(char *, n_edges + 3);
  bands->of_value = g_new0(size_t, attribute->n_values + 1);
  for (size_t b = 0; b <= n_edges; b++) {
    g_autofree char *from = edge_text(first + ((double)b - 1) * width),
                    *to = edge_text(first + (double)b * width);
    bands->names[b] = b == 0         ? g_strdup_printf("<%s", to)
                      : b == n_edges ? g_strdup_printf("%s and more", from)
                                     : g_strdup_printf("%s to <%s", from, to);
  }
  bands->n_bands = n_edges + 1;
  gboolean unknown = FALSE;
  for (size_t v = 0; v < attribute->n_values; v++) {
    unknown |= !isfinite(numbers[v]);
    const double place = floor((numbers[v] - first) / width + 1e-9) + 1;
    bands->of_value[v] =
        isfinite(numbers[v]) ? (size_t)CLAMP(place, 0.0, (double)n_edges) : n_edges + 1;
  }
  if (unknown)
    bands->names[bands->n_bands++] = g_strdup("");
  return bands;
}

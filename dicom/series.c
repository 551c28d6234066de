#include "dicom/series.h"

const char *
demur_series_type_name(DemurSeriesType type) {
  static const char *const names[] = {"volume",  "stack", "localizer", "secondary capture",
                                      "derived", "other"};
  g_return_val_if_fail((guint)type < G_N_ELEMENTS(names), NULL);
  return names[type];
}

static void
clear_slice(DemurSlice *slice) {
  g_free(slice->path);
  g_free(slice->entry);
  g_free(slice->sop_instance_uid);
  g_free(slice->transfer_syntax_uid);
  g_free(slice->problem);
  g_free(slice->content_digest);
  g_free(slice->pixel_digest);
  g_free(slice->stamp);
}

void
demur_series_clear_findings(DemurSeries *series) {
  for (size_t i = 0; i < series->n_findings; i++)
    demur_rule_finding_clear(&series->findings[i]);
  g_clear_pointer(&series->findings, g_free);
  series->n_findings = 0;
}

gboolean
demur_series_found(const DemurSeries *series, const char *code) {
  for (size_t i = 0; i < series->n_findings; i++)
    if (strcmp(series->findings[i].code, code) == 0)
      return TRUE;
  return FALSE;
}

void
demur_series_free(DemurSeries *series) {
  if (series == NULL)
    return;
  char *const texts[] = {
      series->scan_id,
      series->series_uid,
      series->study_uid,
      series->frame_of_reference_uid,
      series->patient_id,
      series->patient_id_issuer,
      series->content_digest,
      series->patient_name,
      series->patient_birth_date,
      series->patient_sex,
      series->patient_age,
      series->study_date,
      series->acquisition_date,
      series->description,
      series->study_description,
      series->protocol,
      series->modality,
      series->sop_class_uid,
      series->image_type,
      series->body_part,
      series->photometric,
      series->patient_position,
      series->transfer_syntax_uid,
      series->manufacturer,
      series->manufacturer_raw,
      series->model,
      series->model_family,
      series->kernel,
      series->kernel_family,
      series->contrast_agent,
      series->institution,
      series->station,
      series->site,
      series->thickness_text,
      series->first_problem,
      series->unreadable_problem,
      series->stray_problem,
      series->unit,
      series->unit_from,
      series->mono_energetic,
      series->spectral_words,
      series->preferred,
  };
  for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
    g_free(texts[i]);
  for (size_t i = 0; i < series->n_slices + series->n_left_out; i++)
    clear_slice(&series->slices[i]);
  g_free(series->slices);
  for (size_t i = 0; i < series->n_mixed; i++) {
    g_free(series->mixed[i].first);
    g_free(series->mixed[i].other);
  }
  g_free(series->mixed);
  demur_series_clear_findings(series);
  g_strfreev(series->gone);
  g_free(series);
}

DemurPerson
demur_series_person_of(const DemurSeries *series) {
  return (DemurPerson){series->patient_id_issuer, series->patient_id, series->patient_name,
                       series->patient_birth_date, series->patient_sex};
}

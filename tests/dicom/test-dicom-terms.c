/* The closed sets of the standard that the program tells apart, against what PS3.5 and PS3.6 print. */
#include "base/error.h"
#include "dicom/attributes.h"
#include "dicom/image-kind.h"
#include "dicom/sop-class.h"
#include "dicom/transfer-syntax.h"

#include <string.h>

/* PS3.5 table 6.2-1 and 7.1.2: those with a length of 32 bits are listed in table 7.1-1. */
static void
value_representations_are_those_of_the_standard(void) {
  static const char wide[] = "OB OD OF OL OV OW SQ SV UC UN UR UT UV";
  static const char all[] =
      "AE AS AT CS DA DS DT FD FL IS LO LT OB OD OF OL OV OW PN SH SL SQ SS ST "
      "SV TM UC UI UL UN UR US UT UV";
  g_auto(GStrv) names = g_strsplit(all, " ", -1), long_ones = g_strsplit(wide, " ", -1);
  g_assert_cmpuint(g_strv_length(names), ==, DEMUR_N_VRS - 2);
  for (guint i = 0; names[i] != NULL; i++) {
    const DemurVr vr = demur_vr_find((const guint8 *)names[i]);
    g_assert_cmpstr(demur_vr_name(vr), ==, names[i]);
    g_assert_cmpint(demur_vr_has_long_length(vr), ==,
                    g_strv_contains((const char *const *)long_ones, names[i]));
    g_assert_cmpint(demur_vr_is_bytes(vr), ==, names[i][0] == 'O');
    g_assert_cmpint(demur_vr_padding(vr), ==, vr == DEMUR_VR_UI ? 0 : ' ');
  }
  static const char *const others[] = {"ZZ", "ox", "??", "O\xFF", "\0\0"};
  for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
    g_assert_cmpint(demur_vr_find((const guint8 *)others[i]), ==, DEMUR_VR_OTHER);
    g_assert_false(demur_vr_has_long_length(demur_vr_find((const guint8 *)others[i])));
  }
  g_assert_cmpstr(demur_vr_name(DEMUR_VR_NONE), ==, "");
}

/* A representation that is none, or unknown, leaves the standard's: .5 as FD, not eight letters. */
static void
a_value_without_a_known_representation_is_read_by_the_standard(void) {
  static const guint8 half[8] = {0, 0, 0, 0, 0, 0, 0xE0, 0x3F};
  const int i = demur_slice_attribute_find(DEMUR_TAG(0x0018, 0x9082)); /* EffectiveEchoTime */
  g_assert_cmpint(i, >=, 0);
  static const DemurVr unknown[] = {DEMUR_VR_NONE, DEMUR_VR_OTHER, DEMUR_VR_UN, DEMUR_VR_FD};
  for (size_t k = 0; k < G_N_ELEMENTS(unknown); k++) {
    const DemurElement element = {
        .tag = DEMUR_TAG(0x0018, 0x9082), .vr = unknown[k], .length = sizeof half};
    g_autofree char *text =
        demur_slice_attribute_text(&element, half, demur_slice_attribute((size_t)i), NULL);
    g_assert_cmpstr(text, ==, "0.5");
  }
}

/* UIDs of PS3.6 table A-1; one digit more is another class. */
static void
sop_classes_are_told_apart(void) {
  static const struct {
    const char *uid;
    DemurSopClass sop_class;
  } rows[] = {
      {NULL, DEMUR_SOP_OTHER},
      {"", DEMUR_SOP_OTHER},
      {"1.2.840.10008.5.1.4.1.1.2", DEMUR_SOP_CT},
      {"1.2.840.10008.5.1.4.1.1.2.1", DEMUR_SOP_CT},
      {"1.2.840.10008.5.1.4.1.1.2.2", DEMUR_SOP_CT},
      {"1.2.840.10008.5.1.4.1.1.20", DEMUR_SOP_OTHER}, /* Nuclear Medicine */
      {"1.2.840.10008.5.1.4.1.1.4", DEMUR_SOP_OTHER},  /* MR */
      {"1.2.840.10008.5.1.4.1.1.7", DEMUR_SOP_SECONDARY_CAPTURE},
      {"1.2.840.10008.5.1.4.1.1.7.2", DEMUR_SOP_SECONDARY_CAPTURE},
      {"1.2.840.10008.5.1.4.1.1.77.1.4", DEMUR_SOP_OTHER}, /* photography */
      {"1.2.840.10008.1.3.10", DEMUR_SOP_DIRECTORY},
      {"1.2.840.10008.5.1.4.1.1.88.22", DEMUR_SOP_STRUCTURED_REPORT},
      {"1.2.840.10008.5.1.4.1.1.66.4", DEMUR_SOP_SEGMENTATION},
      {"1.2.840.10008.5.1.4.1.1.481.2", DEMUR_SOP_RT_DOSE},
      {"1.2.840.10008.5.1.4.1.1.481.23", DEMUR_SOP_OTHER}, /* of a newer edition */
      {"1.2.840.10008.5.1.4.1.1.481.3", DEMUR_SOP_RT_STRUCTURE_SET},
      {"1.2.840.10008.5.1.4.1.1.481.5", DEMUR_SOP_RT_PLAN},
      {"1.2.840.10008.5.1.4.1.1.11.1", DEMUR_SOP_PRESENTATION_STATE},
      {"1.2.840.10008.5.1.4.1.1.104.1", DEMUR_SOP_DOCUMENT},
      {"1.2.840.10008.5.1.4.1.1.9.1.1", DEMUR_SOP_WAVEFORM},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
    g_assert_cmpint(demur_sop_class_find(rows[i].uid), ==, rows[i].sop_class);
}

/* What has no pixels is a CT that lacks its image only where it is a CT. */
static void
only_a_ct_lacks_its_image(void) {
  DemurHeader header = {.series_uid = (char *)"1.2", .pixels = DEMUR_PIXELS_ABSENT};
  header.sop_class_uid = (char *)"1.2.840.10008.5.1.4.1.1.2.1";
  g_assert_true(demur_header_lacks_its_image(&header));
  header.sop_class_uid = (char *)"1.2.840.10008.5.1.4.1.1.20";
  g_assert_false(demur_header_lacks_its_image(&header));
  header.sop_class_uid = NULL;
  header.modality = (char *)"CT";
  g_assert_true(demur_header_lacks_its_image(&header));
}

/* Both ends of the network speak of the same syntaxes: of those that are read, without loss first. */
static void
what_is_received_is_read_without_loss_first(void) {
  size_t n, n_received = 0;
  const DemurTransferSyntax *syntaxes = demur_transfer_syntaxes(&n);
  DemurExchange last = DEMUR_EXCHANGE_PLAIN;
  gboolean lossy = FALSE;
  for (size_t i = 0; i < n; i++) {
    g_assert_cmpint(syntaxes[i].exchange, >=, last);
    last = syntaxes[i].exchange;
    for (size_t k = 0; k < i; k++)
      g_assert_cmpstr(syntaxes[k].uid, !=, syntaxes[i].uid);
    if (last == DEMUR_EXCHANGE_NEVER)
      continue;
    g_assert_cmpint(syntaxes[i].coding, !=, DEMUR_CODING_UNREADABLE);
    g_assert_true(syntaxes[i].lossy || !lossy);
    lossy = syntaxes[i].lossy;
    n_received++;
  }
  g_assert_cmpuint(n_received, ==, 13);
  g_assert_cmpstr(syntaxes[0].uid, ==, "1.2.840.10008.1.2.1"); /* explicit, little endian */
}

static void
pictures_of_a_screen_are_no_images(void) {
  static const struct {
    const char *image_type;
    gboolean secondary;
  } rows[] = {{"DERIVED\\SECONDARY\\SCREEN SAVE", TRUE},
              {"DERIVED\\SECONDARY\\GSI Screen Save", TRUE},
              {"SCREEN SAVES", TRUE},
              {"DERIVED\\SECONDARY\\AXIAL", FALSE},
              {"ORIGINAL\\PRIMARY\\AXIAL\\SCREEN", FALSE},
              {NULL, FALSE}};
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    const DemurHeader header = {.sop_class_uid = (char *)DEMUR_SOP_CT_IMAGE_UID,
                                .image_type = (char *)rows[i].image_type};
    g_assert_cmpint(demur_image_is_secondary(&header), ==, rows[i].secondary);
  }
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/terms/value-representations", value_representations_are_those_of_the_standard);
  g_test_add_func("/terms/unknown-representation",
                  a_value_without_a_known_representation_is_read_by_the_standard);
  g_test_add_func("/terms/sop-classes", sop_classes_are_told_apart);
  g_test_add_func("/terms/only-a-ct", only_a_ct_lacks_its_image);
  g_test_add_func("/terms/screens", pictures_of_a_screen_are_no_images);
  g_test_add_func("/terms/received", what_is_received_is_read_without_loss_first);
  return g_test_run();
}

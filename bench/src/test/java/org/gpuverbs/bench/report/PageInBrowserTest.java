// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.awt.Rectangle;
import java.awt.image.BufferedImage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The page as a browser shows it, looked at by counting pixels. */
@Timeout(400)
class PageInBrowserTest {
  private static final int WIDTH = 1000;
  private static final int HEIGHT = 12_000;

  /** Writes each figure's and image's place into the document. */
  private static final String PLACES =
      "<script>addEventListener('load', () => document.body.dataset.places ="
          + " [...document.querySelectorAll('figure.plot, figure.plot img, figcaption, h1, h2, h3, table,"
          + " ul, summary')].filter(e => e.tagName == 'SUMMARY' ||"
          + " !e.closest('details:not([open])')).map((e, i) => {"
          + " const r = e.getBoundingClientRect(); const f ="
          + " e.closest('figure'); return (f ? f.id : '') + ':' + e.tagName + ':' + i + ' ' +"
          + " [r.left, r.top, r.width, r.height].map(Math.round).join(' '); }).join(';'));</script>";

  @TempDir static Path folder;

  private static Map<String, Rectangle> places;
  private static BufferedImage shot;
  private static List<String> figures;

  @BeforeAll
  static void open() throws Exception {
    Optional<Browser> browser = Browser.find(folder);
    assumeTrue(browser.isPresent(), "no Chromium on the PATH (apt-get install chromium)");
    System.setProperty("java.awt.headless", "true");
    Path page = ReportCommand.write(Fixtures.folders(), folder.resolve("report"));
    figures =
        Pattern.compile("<figure class=\"plot\" id=\"([^\"]+)\"")
            .matcher(Files.readString(page))
            .results()
            .map(match -> match.group(1))
            .toList();
    Path instrumented = page.resolveSibling("places.html");
    Files.writeString(instrumented, Files.readString(page).replace("</body>", PLACES + "</body>"));
    String document = browser.get().document(instrumented, WIDTH, HEIGHT);
    Matcher found = Pattern.compile("data-places=\"([^\"]+)\"").matcher(document);
    assertTrue(found.find(), "the page's script did not run");
    places = new LinkedHashMap<>();
    for (String place : found.group(1).split(";")) {
      String[] f = place.split(" ");
      places.put(
          f[0],
          new Rectangle(
              Integer.parseInt(f[1]),
              Integer.parseInt(f[2]),
              Integer.parseInt(f[3]),
              Integer.parseInt(f[4])));
    }
    shot = browser.get().screenshot(page, WIDTH, HEIGHT);
  }

  private static Rectangle image(String figure) {
    return places.entrySet().stream()
        .filter(e -> e.getKey().startsWith(figure + ":IMG:"))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void eachKindOfPlotIsThere() {
    for (String id :
        List.of(
            "rate-by-lanes-16",
            "alone",
            "call",
            "peers",
            "latency-cdf",
            "bandwidth",
            "gpu-rate-by-threads",
            "gpu-fences",
            "gpu-many-queues")) {
      assertTrue(figures.contains(id), () -> id + " is not among " + figures);
    }
  }

  @Test
  void noPlotIsEmpty() {
    for (String figure : figures) {
      Rectangle place = image(figure);
      assertEquals(Plots.WIDTH, place.width, figure);
      assertEquals(Plots.HEIGHT, place.height, figure);
      // Left of the legend and above the axis: where the data are.
      int coloured = 0;
      Set<Integer> colours = new HashSet<>();
      for (int y = place.y + 40; y < place.y + place.height - 60; y++) {
        for (int x = place.x + 80; x < place.x + place.width * 7 / 10; x++) {
          int rgb = shot.getRGB(x, y) & 0xffffff;
          if (saturation(rgb) > 60) {
            coloured++;
            colours.add(rgb & 0xe0e0e0);
          }
        }
      }
      int seen = coloured;
      assertTrue(coloured > 300, () -> figure + " has " + seen + " coloured pixels");
      assertFalse(colours.isEmpty(), figure);
    }
  }

  @Test
  void eachPlotHasAxesAndLabels() {
    for (String figure : figures) {
      Rectangle place = image(figure);
      assertTrue(
          dark(new Rectangle(place.x, place.y + 40, 90, place.height - 100)) > 100,
          () -> figure + " has no labels at its left");
      assertTrue(
          dark(new Rectangle(place.x + 60, place.y + place.height - 70, place.width / 2, 65)) > 100,
          () -> figure + " has no labels below");
      assertTrue(
          dark(new Rectangle(place.x + 60, place.y + 4, place.width - 120, 36)) > 200,
          () -> figure + " has no title");
    }
  }

  @Test
  void nothingOverlaps() {
    List<Map.Entry<String, Rectangle>> all =
        places.entrySet().stream()
            .filter(e -> !e.getKey().contains(":FIGURE:") && !e.getValue().isEmpty())
            .toList();
    for (int i = 0; i < all.size(); i++) {
      for (int j = i + 1; j < all.size(); j++) {
        var a = all.get(i);
        var b = all.get(j);
        assertFalse(
            a.getValue().intersects(b.getValue()),
            () -> a.getKey() + " " + a.getValue() + " overlaps " + b.getKey() + " " + b.getValue());
      }
    }
  }

  @Test
  void allLiesWithinTheWindow() {
    places.forEach(
        (name, place) -> {
          boolean scrolls = name.contains(":TABLE:");
          assertTrue(
              place.x >= 0 && (scrolls || place.x + place.width <= WIDTH),
              () -> name + " sticks out: " + place);
          assertTrue(place.y + place.height < HEIGHT, () -> name + " is below the screenshot");
        });
  }

  private static int dark(Rectangle where) {
    int count = 0;
    for (int y = where.y; y < where.y + where.height; y++) {
      for (int x = where.x; x < where.x + where.width; x++) {
        int rgb = shot.getRGB(x, y);
        if ((rgb >> 16 & 0xff) + (rgb >> 8 & 0xff) + (rgb & 0xff) < 330) {
          count++;
        }
      }
    }
    return count;
  }

  private static int saturation(int rgb) {
    int r = rgb >> 16 & 0xff;
    int g = rgb >> 8 & 0xff;
    int b = rgb & 0xff;
    return Math.max(r, Math.max(g, b)) - Math.min(r, Math.min(g, b));
  }
}

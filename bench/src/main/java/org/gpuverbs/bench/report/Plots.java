// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** The charts' common look, and their drawing. */
final class Plots {
  static final int WIDTH = 860;
  static final int HEIGHT = 440;

  /** Pixels a unit: sharp on dense screens. */
  static final int SCALE = 2;

  /** More labels than this would touch each other. */
  private static final int CROWD = 12;

  /** Told apart by people of all kinds of colour vision (Okabe and Ito). */
  static final Color[] COLOURS = {
    new Color(0x0072B2),
    new Color(0xD55E00),
    new Color(0x009E73),
    new Color(0xCC79A7),
    new Color(0xE69F00),
    new Color(0x56B4E9),
    new Color(0x4D4D4D),
  };

  private static final Color TEXT = new Color(0x222222);
  private static final Color GRID = new Color(0xE3E3E3);

  private Plots() {}

  /** Lines over categories, so that 1, 2, 4, 8 are equally far apart. */
  static CategoryChart lines(
      String title,
      String x,
      String y,
      boolean logarithmic,
      Map<String, List<Double>> series,
      List<String> categories) {
    CategoryChart chart = category(title, x, y, logarithmic, series, categories);
    chart.getStyler().setDefaultSeriesRenderStyle(CategorySeries.CategorySeriesRenderStyle.Line);
    chart
        .getSeriesMap()
        .values()
        .forEach(
            each -> {
              each.setMarker(SeriesMarkers.CIRCLE);
              each.setLineStyle(new BasicStroke(2.2f));
            });
    chart.getStyler().setMarkerSize(7);
    // Else each series is moved sideways, as bars are.
    chart.getStyler().setOverlapped(true);
    return chart;
  }

  static CategoryChart bars(
      String title, String x, String y, Map<String, List<Double>> series, List<String> categories) {
    CategoryChart chart = category(title, x, y, false, series, categories);
    chart.getStyler().setAvailableSpaceFill(0.8);
    chart.getStyler().setYAxisMin(0.0);
    return chart;
  }

  private static CategoryChart category(
      String title,
      String x,
      String y,
      boolean logarithmic,
      Map<String, List<Double>> series,
      List<String> categories) {
    CategoryChart chart =
        new CategoryChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle(x)
            .yAxisTitle(y)
            .build();
    style(chart.getStyler(), series.size());
    chart.getStyler().setYAxisLogarithmic(logarithmic);
    if (logarithmic) {
      bound(chart.getStyler(), series);
    } else {
      chart.getStyler().setYAxisMin(0.0);
    }
    if (categories.size() > CROWD) {
      chart.getStyler().setXAxisLabelRotation(60);
    }
    series.forEach((name, values) -> chart.addSeries(name, categories, values));
    return chart;
  }

  /** Whole decades, since the axis has its labels there. */
  private static void bound(AxesChartStyler styler, Map<String, List<Double>> series) {
    double low = Double.MAX_VALUE;
    double high = 0;
    for (List<Double> values : series.values()) {
      for (Double value : values) {
        if (value != null && value > 0) {
          low = Math.min(low, value);
          high = Math.max(high, value);
        }
      }
    }
    styler.setYAxisMin(Math.pow(10, Math.floor(Math.log10(low))));
    styler.setYAxisMax(Math.pow(10, Math.ceil(Math.log10(high) + 1e-9)));
  }

  static XYChart curves(
      String title, String x, String y, Map<String, List<double[]>> series, boolean logarithmicX) {
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle(x)
            .yAxisTitle(y)
            .build();
    style(chart.getStyler(), series.size());
    chart.getStyler().setXAxisLogarithmic(logarithmicX);
    series.forEach(
        (name, points) -> {
          var added =
              chart.addSeries(
                  name,
                  points.stream().mapToDouble(p -> p[0]).toArray(),
                  points.stream().mapToDouble(p -> p[1]).toArray());
          added.setMarker(SeriesMarkers.CIRCLE);
          added.setLineStyle(new BasicStroke(2.2f));
        });
    chart.getStyler().setMarkerSize(5);
    return chart;
  }

  private static void style(AxesChartStyler styler, int series) {
    Font font = new Font(Font.SANS_SERIF, Font.PLAIN, 13);
    styler.setChartBackgroundColor(Color.WHITE);
    styler.setPlotBackgroundColor(Color.WHITE);
    styler.setPlotBorderVisible(false);
    styler.setPlotGridLinesColor(GRID);
    styler.setPlotGridVerticalLinesVisible(false);
    styler.setChartFontColor(TEXT);
    styler.setChartTitleFont(font.deriveFont(Font.BOLD, 15f));
    styler.setChartTitleBoxVisible(false);
    styler.setAxisTitleFont(font);
    styler.setAxisTickLabelsFont(font.deriveFont(12f));
    styler.setLegendFont(font.deriveFont(12f));
    styler.setLegendBorderColor(Color.WHITE);
    styler.setLegendPosition(Styler.LegendPosition.OutsideE);
    styler.setLegendVisible(series > 1);
    styler.setSeriesColors(COLOURS);
    styler.setAntiAlias(true);
    styler.setChartPadding(12);
    styler.setDecimalPattern("#,##0.###");
  }

  /** As a PNG, {@value #SCALE} times as many pixels as the chart's size says. */
  static byte[] png(Chart<?, ?> chart) throws IOException {
    BufferedImage image =
        new BufferedImage(WIDTH * SCALE, HEIGHT * SCALE, BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = image.createGraphics();
    graphics.scale(SCALE, SCALE);
    chart.paint(graphics, WIDTH, HEIGHT);
    graphics.dispose();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ImageIO.write(image, "png", out);
    return out.toByteArray();
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.imageio.ImageIO;

/** Headless Chromium, for one page. */
final class Browser {
  private static final long LIMIT_SECONDS = 120;

  private final Path program;
  private final Path folder;

  private Browser(Path program, Path folder) {
    this.program = program;
    this.folder = folder;
  }

  /** Empty if there is none on the PATH. */
  static Optional<Browser> find(Path folder) {
    return Stream.of(System.getenv("PATH").split(":"))
        .flatMap(
            each ->
                Stream.of("chromium", "chromium-browser", "google-chrome")
                    .map(Path.of(each)::resolve))
        .filter(Files::isExecutable)
        .findFirst()
        .map(program -> new Browser(program, folder));
  }

  BufferedImage screenshot(Path page, int width, int height)
      throws IOException, InterruptedException {
    Path file = folder.resolve("screenshot.png");
    run(page, "--window-size=" + width + "," + height, "--screenshot=" + file);
    if (!Files.exists(file)) {
      throw new IOException("Chromium made no screenshot; its output: " + output());
    }
    return ImageIO.read(file.toFile());
  }

  /** The page's document once its scripts have run. */
  String document(Path page, int width, int height) throws IOException, InterruptedException {
    run(page, "--window-size=" + width + "," + height, "--dump-dom");
    return output();
  }

  private String output() throws IOException {
    return Files.readString(folder.resolve("browser.out"));
  }

  private void run(Path page, String... options) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(program.toString());
    command.addAll(
        List.of(
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--force-device-scale-factor=1",
            "--user-data-dir=" + Files.createTempDirectory(folder, "profile")));
    command.addAll(List.of(options));
    command.add(page.toUri().toString());
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(folder.resolve("browser.out").toFile())
            .redirectError(folder.resolve("browser.err").toFile())
            .start();
    if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      throw new IOException("Chromium took longer than " + LIMIT_SECONDS + " s");
    }
  }
}

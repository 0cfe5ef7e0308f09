// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import java.util.Collections;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.gpuverbs.Program.Kind;
import org.gpuverbs.Program.Op;
import org.gpuverbs.Program.Shape;
import org.gpuverbs.Program.Step;

/**
 * Random programs of operations over random queue pairs, policies and lane counts end with the same
 * memory and the same completions as a plain Java model.
 */
class RandomProgramsTest {
  private static final int WORD = 8;

  @Property(tries = 150)
  void endAsTheModelDoes(@ForAll("programs") Program program) throws InterruptedException {
    ProgramRun.check(program);
  }

  @Property(tries = 50)
  void withErrorsEndAsTheModelDoes(@ForAll("failingPrograms") Program program)
      throws InterruptedException {
    ProgramRun.check(program);
  }

  @Provide
  Arbitrary<Program> programs() {
    return programs(false);
  }

  @Provide
  Arbitrary<Program> failingPrograms() {
    return programs(true);
  }

  static Arbitrary<Program> programs(boolean failing) {
    return Combinators.combine(
            shapes().list().ofMinSize(1).ofMaxSize(3),
            Arbitraries.integers().between(1, 4),
            steps(failing).list().ofMinSize(1).ofMaxSize(Program.MAX_STEPS))
        .as(Program::new);
  }

  private static Arbitrary<Shape> shapes() {
    return Combinators.combine(
            Arbitraries.of(
                HandOver.CLASSIC,
                HandOver.TURN,
                HandOver.TURN_LOAD_STORE,
                HandOver.BITMAP,
                HandOver.EXCLUSIVE),
            Arbitraries.of(1, 2, 16, 64),
            Arbitraries.of(64, 128, 256),
            Arbitraries.of(true, false))
        .as(Shape::new);
  }

  private static Arbitrary<Step> steps(boolean failing) {
    return Combinators.combine(
            Arbitraries.integers().between(0, 2),
            Arbitraries.integers().between(0, 1),
            Arbitraries.of(true, false),
            ops(failing).list().ofMinSize(1).ofMaxSize(Program.MAX_OPS))
        .as(Step::new);
  }

  private static Arbitrary<Op> ops(boolean failing) {
    List<Kind> kinds = List.of(Kind.values()).stream().filter(kind -> kind != Kind.FORGED).toList();
    Arbitrary<Kind> kind =
        failing
            ? Arbitraries.frequencyOf(
                net.jqwik.api.Tuple.of(20, Arbitraries.of(kinds)),
                net.jqwik.api.Tuple.of(1, Arbitraries.just(Kind.FORGED)))
            : Arbitraries.of(kinds);
    return kind.flatMap(RandomProgramsTest::op);
  }

  private static Arbitrary<Op> op(Kind kind) {
    Arbitrary<Long> value = Arbitraries.longs();
    int room = Program.AREA - 3 * Program.MAX_SEGMENT;
    Arbitrary<Integer> offset = Arbitraries.integers().between(0, room);
    Arbitrary<List<Integer>> lengths =
        switch (kind) {
          case NOP -> Arbitraries.just(List.of());
          case FORGED -> Arbitraries.just(List.of());
          case COMPARE_SWAP, FETCH_ADD -> Arbitraries.just(List.of(WORD));
          case WRITE_INLINE ->
              Arbitraries.integers().between(0, Program.MAX_INLINE).map(Collections::singletonList);
          case SEND, SEND_IMMEDIATE ->
              Arbitraries.integers().between(0, Program.RECEIVE / 3).list().ofMaxSize(3);
          case WRITE, WRITE_IMMEDIATE, READ ->
              Arbitraries.integers().between(0, Program.MAX_SEGMENT).list().ofMaxSize(3);
        };
    boolean words = kind == Kind.COMPARE_SWAP || kind == Kind.FETCH_ADD;
    Arbitrary<Integer> place = words ? offset.map(at -> at & -WORD) : offset;
    return Combinators.combine(place, lengths, place, value)
        .as((here, list, there, number) -> new Op(kind, here, list, there, number));
  }
}

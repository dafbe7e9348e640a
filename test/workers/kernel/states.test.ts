// Kernels over states of conditions (states.ts), against a reference that decides each row.
import { deepStrictEqual, equal } from 'node:assert/strict';
import { test } from 'tap';
import { AND, FALSE, NULL, OR, SET, TRUE, UNKNOWN } from '../../../workers/kernel/layout/expressions.ts';
import { fc } from '../../random.ts';
import { bytesBefore, columnOf, KernelRig, rowOf } from './kernel-rig.ts';
import { combined } from './scalar/states.ts';

const MODES = fc.constantFrom(SET, AND, OR);
const states = columnOf(fc.tuple(...[0, 1].map(() => fc.constantFrom(FALSE, TRUE, NULL, UNKNOWN))));

function check<T>(title: string, property: (rig: KernelRig) => fc.IPropertyWithHooks<T>): void {
  test(title, (t) => {
    const rig = new KernelRig();
    t.doesNotThrow(() => fc.assert(property(rig), { numRuns: 300 }), title);
    t.end();
  });
}

check('combineStates: each mode, row by row', (rig) =>
  fc.property(states, MODES, bytesBefore, (pairs, mode, before) => {
    rig.clear();
    const at = rig.byteList(
      pairs.map(([left]) => left!),
      before,
    );
    const others = rig.byteList(
      pairs.map(([, right]) => right!),
      before + 1,
    );
    rig.exports.combineStates(at, others, pairs.length, mode);
    deepStrictEqual(
      rig.byteValues(at, pairs.length),
      pairs.map(([left, right]) => combined(left!, right!, mode)),
    );
    rig.checkGuards();
  }),
);

check('negateStates: true and false change places, null and unknown stay', (rig) =>
  fc.property(states, bytesBefore, (pairs, before) => {
    rig.clear();
    const at = rig.byteList(
      pairs.map(([state]) => state!),
      before,
    );
    rig.exports.negateStates(at, pairs.length);
    deepStrictEqual(
      rig.byteValues(at, pairs.length),
      pairs.map(([state]) => (state === TRUE ? FALSE : state === FALSE ? TRUE : state)),
    );
    rig.checkGuards();
  }),
);

check('findUnknown: the first unknown state from a position on', (rig) =>
  fc.property(states, fc.nat(40), bytesBefore, (pairs, start, before) => {
    rig.clear();
    const values = pairs.map(([state]) => state!);
    const from = Math.min(start, values.length);
    const at = rig.byteList(values, before);
    // An unknown state after the end of the list does not count.
    rig.bytes.fill(UNKNOWN, at + values.length, at + values.length + 15);
    const found = values.indexOf(UNKNOWN, from);
    equal(rig.exports.findUnknown(at, from, values.length) >>> 0, found === -1 ? values.length : found);
  }),
);

check('keepTrue: the rows whose state is true, in their order', (rig) =>
  fc.property(states, bytesBefore, (pairs, before) => {
    rig.clear();
    const values = pairs.map(([state]) => state!);
    const rows = rig.rows(values.length, before);
    const kept = rig.exports.keepTrue(rig.byteList(values, before), rows, values.length) >>> 0;
    const expected = values.flatMap((state, position) => (state === TRUE ? [rowOf(position)] : []));
    deepStrictEqual(rig.wordValues(rows, kept), expected);
    rig.checkGuards();
  }),
);

const META_NULL = 255;

check('loadBooleans: bytes of a column to states, by each mode', (rig) =>
  fc.property(
    columnOf(fc.tuple(fc.constantFrom(0, 1, META_NULL), fc.constantFrom(FALSE, TRUE, NULL, UNKNOWN))),
    MODES,
    bytesBefore,
    (cells, mode, before) => {
      rig.clear();
      const meta = rig.byteList(
        cells.flatMap(([byte]) => [UNKNOWN, byte]),
        before,
      );
      const at = rig.byteList(
        cells.map(([, state]) => state),
        before,
      );
      rig.exports.loadBooleans(meta, rig.rows(cells.length), cells.length, at, mode);
      deepStrictEqual(
        rig.byteValues(at, cells.length),
        cells.map(([byte, state]) => combined(state, byte === META_NULL ? NULL : byte, mode)),
      );
      rig.checkGuards();
    },
  ),
);

check('storeStates: states to bytes of a column, and the rows that are unknown', (rig) =>
  fc.property(states, bytesBefore, (pairs, before) => {
    rig.clear();
    const values = pairs.map(([state]) => state!);
    const meta = rig.byteList(
      values.flatMap(() => [7, 9]),
      before,
    );
    const todo = rig.region((values.length + 1) * 4, 16);
    const filled = rig.exports.storeStates(
      rig.byteList(values, before),
      rig.rows(values.length),
      values.length,
      meta,
      todo,
    );
    equal(filled >>> 0, values.filter((state) => state === TRUE || state === FALSE).length);
    deepStrictEqual(
      rig.byteValues(meta, values.length * 2),
      values.flatMap((state) => [7, state <= TRUE ? state : META_NULL]),
    );
    const unknown = values.flatMap((state, position) => (state === UNKNOWN ? [rowOf(position)] : []));
    deepStrictEqual(rig.wordValues(todo, unknown.length + 1), [unknown.length, ...unknown]);
    rig.checkGuards();
  }),
);

// Damaged Parquet files: thousands of small changes, and false values where they would cost most. Each file must end in a failure
// of the file or be read, quickly and within the budget.
import { test } from 'tap';
import { unlimitedShare } from '../../../../workers/memory/budget.ts';
import { Failed } from '../../../../workers/protocol/failure.ts';
import { Chance } from '../../../fuzz/chance.ts';
import { processorClock } from '../../../processor-clock.ts';
import { seed } from '../../../random.ts';
import { sweep } from '../../../sweep.ts';
import { readParquet } from './parquet-cells.ts';
import { flatFile, nestedFile } from './sample-files.ts';

const MUTATIONS = sweep({ short: 250, long: 5000 });
/** In processor time. */
const MILLISECONDS_MAX = 2000;
const now = processorClock(process);

/** Bytes that a Run may take beyond its reservation. */
const BUDGET_BYTES = 64 * 1024 * 1024;

const EXTREMES = [0, 1, 0x7f, 0x80, 0xff];

function mutated(source: Uint8Array, chance: Chance): Buffer {
  let bytes: Buffer = Buffer.from(source);
  // False values have the largest effect in the metadata at the end.
  const place = (): number =>
    chance.oneIn(2) ? chance.below(bytes.length) : bytes.length - 1 - chance.below(Math.min(bytes.length, 6000));
  for (let changes = 1 + chance.below(4); changes > 0; changes--) {
    const at = place();
    const kind = chance.below(6);
    if (kind === 0) bytes[at] = chance.below(256);
    else if (kind === 1) bytes[at]! ^= 1 << chance.below(8);
    else if (kind === 2) bytes[at] = chance.of(EXTREMES);
    else if (kind === 3) bytes.fill(0xff, at, Math.min(bytes.length, at + 1 + chance.below(8)));
    else if (kind === 4)
      bytes = Buffer.concat([bytes.subarray(0, at), chance.bytes(1 + chance.below(4)), bytes.subarray(at)]);
    else bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + chance.below(4))]);
  }
  return bytes;
}

test('mutations end in cells or in a failure', async (t) => {
  const files = [flatFile(), flatFile({ codec: 'UNCOMPRESSED', pageSize: 512 }), nestedFile()];
  const codes = new Map<string, number>();
  let slowest = 0;
  for (let number = 0; number < MUTATIONS; number++) {
    const chance = new Chance(seed, number);
    const bytes = mutated(chance.of(files), chance);
    const share = unlimitedShare();
    const budget = {
      ...share,
      take: (wanted: number) => share.takenBytes + wanted <= BUDGET_BYTES && share.take(wanted),
    };
    const start = now();
    let code = 'read';
    try {
      await readParquet(bytes, { budget });
    } catch (error) {
      if (!(error instanceof Failed)) {
        t.fail(`mutation ${number}: ${error instanceof Error ? error.stack : 'no error'}`);
        break;
      }
      code = error.failure.code;
    }
    slowest = Math.max(slowest, now() - start);
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }
  t.ok(slowest < MILLISECONDS_MAX, `the slowest took ${Math.round(slowest)} ms`);
  t.ok(codes.get('MALFORMED_FILE')! > MUTATIONS / 10, 'most that shows is a broken file');
  const known = ['read', 'MALFORMED_FILE', 'UNSUPPORTED_FILE_TYPE', 'FILE_TOO_LARGE'];
  t.strictSame(
    [...codes.keys()].filter((code) => !known.includes(code)),
    [],
  );
  t.comment([...codes].map(([code, count]) => `${code} ${count}`).join(', '));
});

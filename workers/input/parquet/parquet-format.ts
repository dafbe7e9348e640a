// The Parquet input format: recognises its files. The reader is loaded on first use.
import { Failed } from '../../protocol/failure.ts';
import { awaited } from '../../scheduling/coroutine.ts';
import { certain } from '../explanation.ts';
import type { SplittableInput, WholeFileFormat } from '../format.ts';

const MAGIC = 'PAR1';
const ENCRYPTED_MAGIC = 'PARE';

/** The output of a row group of 122,880 rows, as DuckDB writes it, has about 25 MB. */
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Each part consists of the row groups that begin in it. */
const splitParquet: SplittableInput = {
  canSplit: ({ rowGroups }) => rowGroups !== undefined && rowGroups > 1,
  outputBytesMax: OUTPUT_BYTES_MAX,
  *resume(source, _head, settings) {
    const { ParquetReader } = yield* awaited(import('./parquet-reader.ts'));
    yield source.arrival();
    return new ParquetReader(source, settings, source);
  },
};

export const parquetFormat: WholeFileFormat = {
  name: 'parquet',
  endings: ['parquet', 'parq', 'pq'],
  needsWholeFile: true,
  splittable: splitParquet,

  detect({ bytes }) {
    const magic = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, MAGIC.length)).toString('latin1');
    if (magic === MAGIC) return { sureness: 'signature', problem: null };
    if (magic !== ENCRYPTED_MAGIC) return null;
    const problem = new Failed('UNSUPPORTED_FILE_TYPE', 'The file is encrypted Parquet; save it without encryption.');
    return { sureness: 'signature', problem };
  },

  *open(source, _start, settings) {
    const { ParquetReader } = yield* awaited(import('./parquet-reader.ts'));
    settings.onExplained?.({ headerRow: certain('the schema of the file names the columns') });
    return new ParquetReader(source, settings);
  },
};

// The Parquet input format: recognises its files. The reader is loaded on first use.
import { Failed } from '../../protocol/failure.ts';
import { awaited } from '../../scheduling/coroutine.ts';
import { certain } from '../explanation.ts';
import type { WholeFileFormat } from '../format.ts';

const MAGIC = 'PAR1';
const ENCRYPTED_MAGIC = 'PARE';

export const parquetFormat: WholeFileFormat = {
  name: 'parquet',
  endings: ['parquet', 'parq', 'pq'],
  needsWholeFile: true,
  splittable: null,

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

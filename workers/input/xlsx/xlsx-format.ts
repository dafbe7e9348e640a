// The format XLSX and its variants (.xlsm, .xltx, strict workbooks): ZIP archives that contain a workbook. Also opens
// archives that wrap a single file. The reader is loaded on first use.
import { awaited } from '../../scheduling/coroutine.ts';
import type { WholeFileFormat } from '../format.ts';
import { isZip } from '../zip/is-zip.ts';

const XLSX = 'xlsx';

export const xlsxFormat: WholeFileFormat = {
  name: XLSX,
  endings: ['xlsx', 'xlsm', 'xltx', 'xltm', 'zip'],
  needsWholeFile: true,
  splittable: null,

  detect({ bytes }) {
    return isZip(bytes) ? { sureness: 'signature', problem: null } : null;
  },

  *within(source, settings) {
    const { packedIn } = yield* awaited(import('./open-xlsx.ts'));
    return yield* packedIn(source, settings);
  },

  *open(source, _start, settings) {
    const { openXlsx } = yield* awaited(import('./open-xlsx.ts'));
    return yield* openXlsx(XLSX, source, settings);
  },
};

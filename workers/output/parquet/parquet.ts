// The format parquet: columns with static types, in row groups. The writer is loaded with the first Parquet output.
import { defineOutputFormat } from '../format.ts';
import { parquetSection } from './column-type.ts';

export const parquet = defineOutputFormat({
  name: 'parquet',
  section: parquetSection,
  keepsBytes: false,
  needsTypes: true,
  // Not splittable, because the metadata follows the last row.
  file: () => ({ mimeType: 'application/vnd.apache.parquet', extension: 'parquet', splittable: false }),
  async prepare({ settings, schema }) {
    const { ParquetWriter } = await import('./parquet-writer.ts');
    return (tools) => new ParquetWriter(schema, settings, tools);
  },
});

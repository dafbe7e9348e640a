// The format parquet: columns with their static types, in row groups. What writes them is loaded when the first one is written.
import { defineOutputFormat } from '../format.ts';
import { parquetSection } from './parquet-section.ts';

export const parquet = defineOutputFormat({
  name: 'parquet',
  section: parquetSection,
  keepsBytes: false,
  needsTypes: true,
  // Its metadata stands behind the last row.
  file: () => ({ mimeType: 'application/vnd.apache.parquet', extension: 'parquet', splittable: false }),
  async prepare({ settings, schema }) {
    const { ParquetWriter } = await import('./parquet-writer.ts');
    return (tools) => new ParquetWriter(schema, settings, tools);
  },
});

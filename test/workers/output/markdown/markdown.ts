// An output format for tests only: Markdown tables. It keeps no bytes and needs no types, so its writer receives only texts.
import type { Batch, ViewsColumn } from '../../../../workers/batch/batch.ts';
import type { Schema } from '../../../../workers/batch/schema.ts';
import { Type } from '../../../../workers/bundled/type-box.ts';
import { defineOutputFormat, defineOutputSection } from '../../../../workers/output/format.ts';
import type { RowWriter, WriterTools } from '../../../../workers/output/writer.ts';
import { PAUSE, type Slices } from '../../../../workers/scheduling/time-slices.ts';

interface MarkdownSettings {
  /** Text in place of null. */
  readonly nothing: string;
}

const section = defineOutputSection({
  name: 'markdown',
  schema: Type.Object({ null: Type.String({ default: '-', description: 'What is written for null.' }) }),
  settings: (written): MarkdownSettings => ({ nothing: written.null }),
  check({ nothing }, _format, report) {
    if (nothing.includes('|')) report('/null', 'BAD_VALUE', 'A bar ends the cell.');
  },
  checkColumns(_settings, columns, report) {
    if (columns.some(({ name }) => name.includes('|'))) report('', 'BAD_VALUE', 'A bar ends the cell.');
  },
});

export const markdown = defineOutputFormat({
  name: 'markdown',
  section,
  keepsBytes: false,
  needsTypes: false,
  file: () => ({ mimeType: 'text/markdown', extension: 'md', splittable: true }),
  prepare: ({ settings, schema }) => {
    const head = headOf(schema);
    return (tools) => new MarkdownWriter(settings, head, tools);
  },
});

function headOf(schema: Schema): Uint8Array {
  const names = schema.map(({ name }) => name).join(' | ');
  return Buffer.from(`| ${names} |\n|${'---|'.repeat(schema.length)}\n`);
}

class MarkdownWriter implements RowWriter {
  readonly formulasGuarded = 0;
  readonly ahead = null;
  readonly #settings: MarkdownSettings;
  readonly #tools: WriterTools;

  constructor(settings: MarkdownSettings, head: Uint8Array, tools: WriterTools) {
    this.#settings = settings;
    this.#tools = tools;
    if (tools.continues !== true) tools.sink.write(head);
  }

  *push(batch: Batch): Slices {
    for (let position = 0; position < batch.live; position++) {
      const row = batch.physicalRow(position);
      const cells = batch.columns.map((column) => batch.text(column as ViewsColumn, row) ?? this.#settings.nothing);
      this.#tools.sink.write(Buffer.from(`| ${cells.join(' | ')} |\n`));
      if (this.#tools.clock.isDue()) yield PAUSE;
    }
  }

  finish(): void {}
}
